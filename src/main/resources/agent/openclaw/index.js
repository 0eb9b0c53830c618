// Runs inside the gateway of OpenClaw. Appends to a file what is said and when a run begins and ends,
// because the answers of the gateway hold the last text only; and refuses runs that nobody asked for,
// such as the gateway's own going on with a turn that a crash had interrupted.
import { appendFileSync, existsSync } from "node:fs";

export default {
  id: "bbs-recorder",
  name: "Recorder",
  description: "Writes down what the agent says.",
  register(api) {
    const { record, turn } = api.pluginConfig;
    const write = (line) => appendFileSync(record, JSON.stringify(line) + "\n", { mode: 0o600 });
    api.on("before_agent_run", (event, context) => {
      // Written before the look at the turn's file: a run that is not in the record cannot begin later.
      write({ type: "run", run: context.runId, key: context.sessionKey, session: context.sessionId });
      if (!existsSync(turn) || context.inputProvenance?.kind === "internal_system") {
        write({ type: "end", run: context.runId, success: false, error: "refused: no turn asked for it" });
        return { outcome: "block", reason: "no turn asked for this run", message: "No turn asked for this." };
      }
    });
    api.on("before_message_write", (event, context) => {
      write({ type: "message", key: context.sessionKey, message: event.message });
    });
    api.on("agent_end", (event, context) => {
      write({ type: "end", run: context.runId, success: event.success, error: event.error });
    });
  },
};
