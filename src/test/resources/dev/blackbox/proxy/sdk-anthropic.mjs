// Scenarios with @anthropic-ai/sdk: node sdk-anthropic.mjs <scenario> [options]
import { countingFetch, main, sdk } from "./sdk-common.mjs";

const { Anthropic } = sdk("@anthropic-ai/sdk");

function client(more = {}) {
  return new Anthropic({
    baseURL: process.env.BASE_URL,
    apiKey: process.env.PROXY_KEY,
    maxRetries: 0,
    fetch: countingFetch,
    ...more,
  });
}

const request = {
  model: "m-1",
  max_tokens: 99,
  messages: [{ role: "user", content: "hi" }],
};
const tools = [
  { name: "weather", description: "", input_schema: { type: "object", properties: { city: { type: "string" } } } },
];

/** The events of a stream, its text as it came, and the message that the SDK made of it. */
async function streamed(stream) {
  const events = [];
  let text = "";
  stream.on("streamEvent", (event) => events.push(event.type));
  stream.on("text", (delta) => (text += delta));
  const message = await stream.finalMessage();
  return { events, text, message };
}

main({
  plain: () => client().messages.create(request),
  stream: () => streamed(client().messages.stream(request)),
  async tools() {
    const first = await streamed(client().messages.stream({ ...request, tools }));
    const uses = first.message.content.filter((block) => block.type === "tool_use");
    const second = await client().messages.create({
      ...request,
      tools,
      messages: [
        ...request.messages,
        { role: "assistant", content: first.message.content },
        {
          role: "user",
          content: uses.map((use) => ({ type: "tool_result", tool_use_id: use.id, content: "sunny in " + use.input.city })),
        },
      ],
    });
    return { first, second };
  },
  count: () => client().messages.countTokens({ model: "m-1", messages: [{ role: "user", content: "x".repeat(400) }] }),
  async models() {
    const ids = [];
    for await (const model of client().models.list()) ids.push(model.id);
    return ids;
  },
  plainWith: (maxRetries) => client({ maxRetries: Number(maxRetries) }).messages.create(request),
  streamWith: (maxRetries) => streamed(client({ maxRetries: Number(maxRetries) }).messages.stream(request)),
  timeout: (milliseconds, maxRetries) =>
    client({ timeout: Number(milliseconds), maxRetries: Number(maxRetries) }).messages.create(request),
  async abort() {
    const stream = client().messages.stream(request);
    stream.on("text", () => stream.abort());
    return await stream.finalMessage();
  },
});
