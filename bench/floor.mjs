// The floor: the least a Node program can do and still be an agent. It asks the model, runs what it calls, prints what it says.
// No retries, no timeouts, no permissions, no checks. What the command needs beyond this is what it costs.
// usage: node floor.mjs REQUEST_FILE JOURNAL_FILE text|stream-json
import { appendFileSync, readFileSync } from "node:fs";

const [requestFile, journalFile, format] = process.argv.slice(2);
const { request, Agent } = process.getBuiltinModule("node:http");
const url = new URL("/v1/messages", process.env.ANTHROPIC_BASE_URL);
const agent = new Agent({ keepAlive: true });
const { messages, ...fixed } = JSON.parse(readFileSync(requestFile, "utf8"));

while (true) {
  const content = await ask();
  messages.push({ role: "assistant", content });
  const calls = content.filter((block) => block.type === "tool_use");
  if (calls.length === 0) break;
  const results = await Promise.all(calls.map(runCall));
  appendFileSync(journalFile, `${JSON.stringify(results)}\n`);
  messages.push({ role: "user", content: results });
}

async function ask() {
  const body = JSON.stringify({ ...fixed, messages });
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-api-key": process.env.ANTHROPIC_API_KEY,
  };
  const response = await new Promise((resolve, reject) => {
    request(url, { method: "POST", agent, headers }, resolve).on("error", reject).end(body);
  });
  if (response.statusCode !== 200) throw new Error(`The server answered ${response.statusCode}`);
  const content = [];
  let rest = "";
  response.setEncoding("utf8");
  for await (const chunk of response) {
    const pieces = (rest + chunk).split("\n\n");
    rest = pieces.pop();
    let printed = "";
    for (const piece of pieces) printed += apply(JSON.parse(piece.slice(piece.indexOf("data: ") + 6)), content);
    if (printed) process.stdout.write(printed); // once for what came together: the cheapest way to print each delta
  }
  for (const block of content) if (block.type === "tool_use") block.input = JSON.parse(block.input);
  return content;
}

/** Adds one event to the answer; returns what is to be printed for it. */
function apply(event, content) {
  if (event.type === "content_block_start") content[event.index] = { ...event.content_block };
  if (event.type === "content_block_start" && event.content_block.type === "tool_use") content[event.index].input = "";
  if (event.type !== "content_block_delta") return "";
  const block = content[event.index];
  if (event.delta.type === "input_json_delta") block.input += event.delta.partial_json;
  if (event.delta.type !== "text_delta") return "";
  block.text += event.delta.text;
  return format === "text" ? event.delta.text : `${JSON.stringify({ type: "stream_event", event })}\n`;
}

async function runCall({ id, name, input }) {
  const text = name === "Bash" ? await runBash(input.command) : await readNumbered(input.file_path);
  return { type: "tool_result", tool_use_id: id, content: [{ type: "text", text }] };
}

function runBash(command) {
  const { spawn } = process.getBuiltinModule("node:child_process");
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    child.on("error", reject).on("close", () => resolve(output || "(no output)"));
  });
}

/** Numbered like the command's own Read, so that both carry the same history. */
async function readNumbered(path) {
  const text = await process.getBuiltinModule("node:fs/promises").readFile(path, "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line, index) => `${String(index + 1).padStart(6)}\t${line}`)
    .join("\n");
}
