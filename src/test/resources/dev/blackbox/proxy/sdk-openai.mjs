// Scenarios with openai: node sdk-openai.mjs <scenario> <chat|responses> [options]
import { countingFetch, main, sdk } from "./sdk-common.mjs";

const { OpenAI } = sdk("openai");

function client(more = {}) {
  return new OpenAI({
    baseURL: process.env.BASE_URL + "/v1",
    apiKey: process.env.PROXY_KEY,
    maxRetries: 0,
    fetch: countingFetch,
    ...more,
  });
}

const parameters = { type: "object", properties: { city: { type: "string" } } };
const tools = {
  chat: [{ type: "function", function: { name: "weather", parameters } }],
  responses: [{ type: "function", name: "weather", parameters, strict: false }],
};
const hi = { role: "user", content: "hi" };

function plain(api, options = {}, body = {}) {
  return api === "chat"
    ? client(options).chat.completions.create({ model: "m-1", messages: [hi], ...body })
    : client(options).responses.create({ model: "m-1", input: [hi], ...body });
}

/** The events of a stream, its text as it came, and the answer that the SDK made of it. */
async function streamed(api, options = {}, body = {}) {
  const events = [];
  let text = "";
  if (api === "chat") {
    const stream = client(options).chat.completions.stream({ model: "m-1", messages: [hi], ...body });
    stream.on("chunk", (chunk) => {
      events.push(chunk.object);
      text += chunk.choices[0]?.delta?.content ?? "";
    });
    const answer = await stream.finalChatCompletion();
    return { events, text, answer };
  }
  const stream = client(options).responses.stream({ model: "m-1", input: [hi], ...body });
  const numbers = [];
  for await (const event of stream) {
    events.push(event.type);
    numbers.push(event.sequence_number);
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  return { events, numbers, text, answer: await stream.finalResponse() };
}

async function withTools(api) {
  const first = await streamed(api, {}, { tools: tools[api] });
  if (api === "chat") {
    const message = first.answer.choices[0].message;
    const results = message.tool_calls.map((call) => ({
      role: "tool",
      tool_call_id: call.id,
      content: "sunny in " + JSON.parse(call.function.arguments).city,
    }));
    return { first, second: await plain(api, {}, { tools: tools[api], messages: [hi, message, ...results] }) };
  }
  const calls = first.answer.output.filter((item) => item.type === "function_call");
  const results = calls.map((call) => ({
    type: "function_call_output",
    call_id: call.call_id,
    output: "sunny in " + JSON.parse(call.arguments).city,
  }));
  const items = calls.map(({ type, call_id, name, arguments: text }) => ({ type, call_id, name, arguments: text }));
  return { first, second: await plain(api, {}, { tools: tools[api], input: [hi, ...items, ...results] }) };
}

async function abort(api) {
  const controller = new AbortController();
  const body = { model: "m-1", stream: true };
  const options = { signal: controller.signal };
  const stream =
    api === "chat"
      ? await client().chat.completions.create({ ...body, messages: [hi] }, options)
      : await client().responses.create({ ...body, input: [hi] }, options);
  let events = 0;
  for await (const event of stream) {
    events++;
    if (event.choices?.[0]?.delta?.content || event.type === "response.output_text.delta") controller.abort();
  }
  return events;
}

main({
  plain,
  stream: streamed,
  tools: withTools,
  abort,
  plainWith: (api, maxRetries) => plain(api, { maxRetries: Number(maxRetries) }),
  streamWith: (api, maxRetries) => streamed(api, { maxRetries: Number(maxRetries) }),
  timeout: (api, milliseconds, maxRetries) =>
    plain(api, { timeout: Number(milliseconds), maxRetries: Number(maxRetries) }),
  async models() {
    const ids = [];
    for await (const model of client().models.list()) ids.push(model.id);
    return ids;
  },
});
