// An MCP server over stdio: the tools add and fail; with FEATURES=elicit tools that ask, with FEATURES=prompts prompts, with FEATURES=resources a resource.
import { createInterface } from "node:readline";

const features = (process.env["FEATURES"] ?? "").split(",");
const nothing = { type: "object", properties: {} };
const tools = [
  {
    name: "add",
    description: "Adds two numbers",
    inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
    outputSchema: { type: "object", properties: { sum: { type: "number" } } },
  },
  { name: "fail", description: "Fails", inputSchema: nothing },
  { name: "echo", description: "Says it again", inputSchema: nothing },
  ...(features.includes("elicit")
    ? [
        { name: "ask_user", description: "Asks for a name", inputSchema: nothing },
        { name: "ask_url", description: "Asks to open a page", inputSchema: nothing },
      ]
    : []),
];

const questions = {
  ask_user: {
    mode: "form",
    message: "Your name?",
    requestedSchema: {
      type: "object",
      properties: { name: { type: "string", title: "Name" }, age: { type: "integer" } },
      required: ["name"],
    },
  },
  ask_url: { mode: "url", message: "Open this", url: "https://example.invalid/page", elicitationId: "el-1" },
};

const prompts = [
  { name: "greet", arguments: [{ name: "who", required: true }, { name: "how" }] },
  { name: "No Args" },
  { name: "boom" },
];

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: {
      tools: {},
      ...(features.includes("prompts") && { prompts: {} }),
      ...(features.includes("resources") && { resources: {} }),
    },
    serverInfo: { name: "tiny", version: "1" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": async ({ name, arguments: input }) => {
    if (name === "fail") return { content: [{ type: "text", text: "it failed" }], isError: true };
    if (questions[name]) {
      const answer = await ask("elicitation/create", questions[name]);
      return { content: [{ type: "text", text: JSON.stringify(answer) }] };
    }
    if (name === "echo") return { content: [{ type: "text", text: JSON.stringify(input) }] };
    const sum = input.a + input.b;
    return { content: [{ type: "text", text: JSON.stringify({ sum }) }], structuredContent: { sum } };
  },
  "resources/list": () => ({ resources: [{ uri: "note://one", name: "one", mimeType: "text/plain" }] }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, mimeType: "text/plain", text: "FXRESOURCE" }] }),
  "prompts/list": () => ({ prompts }),
  "prompts/get": ({ name, arguments: given }) => {
    if (name === "boom") throw new Error("It exploded");
    const text = `Greet ${JSON.stringify(given ?? {})} ${process.env["PROMPT_SCRIPT"] ?? ""}`;
    return { messages: [{ role: "user", content: { type: "text", text } }] };
  },
};

let asked = 0;
const waiting = new Map();

function ask(method, params) {
  const id = `question-${asked++}`;
  send({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (id === undefined) return;
  if (method === undefined) return waiting.get(id)?.(result);
  try {
    send({ id, result: (await answers[method]?.(params ?? {})) ?? {} });
  } catch (error) {
    send({ id, error: { code: -32000, message: error.message } });
  }
});
