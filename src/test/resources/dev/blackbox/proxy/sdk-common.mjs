// What the programs of SdkTest share: how they find an SDK, and how they say what they saw.
import { createRequire } from "node:module";
import { join } from "node:path";

/** The SDK that was installed for tests; SDK_HOME has node_modules. */
export function sdk(name) {
  return createRequire(join(process.env.SDK_HOME, "here.js"))(name);
}

/** A fetch that counts, so that retries of the SDK are seen. */
export const asked = { times: 0, retryCounts: [] };
export function countingFetch(url, init) {
  asked.times++;
  asked.retryCounts.push(new Headers(init.headers).get("x-stainless-retry-count"));
  return fetch(url, init);
}

/** What a user of the SDK can see of an error. */
export function seen(error) {
  return {
    class: error.constructor.name,
    status: error.status ?? null,
    type: error.type ?? error.error?.error?.type ?? error.error?.type ?? null,
    code: error.code ?? null,
    message: String(error.message),
  };
}

/** Runs one scenario and prints what the SDK returned, or threw. */
export async function main(scenarios) {
  const [name, ...options] = process.argv.slice(2);
  const started = performance.now();
  let out;
  try {
    out = { result: await scenarios[name](...options) };
  } catch (error) {
    out = { error: seen(error) };
  }
  out.asked = asked.times;
  out.retryCounts = asked.retryCounts;
  out.milliseconds = Math.round(performance.now() - started);
  console.log(JSON.stringify(out));
  // Connections stay as the SDK left them until the test has looked at the other side.
  process.stdin.on("end", () => process.exit(0)).resume();
}
