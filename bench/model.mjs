// The scripted model in a process of its own: its work is neither counted nor in the way. Driven over Node's IPC by model-process.mjs.
import { subscribe } from "node:diagnostics_channel";
import { startModelServer } from "../packages/runtime/dist/testing.js";
import { scriptOf } from "./scripts.mjs";

let server;
let marks = [];

// Node's own channels say when bytes come and go; a time taken in the script would count the server's parsing too.
subscribe("http.server.request.start", ({ request }) => mark("request", { bytes: Number(request.headers["content-length"]) }));
subscribe("http.server.response.finish", () => mark("answered"));

process.on("disconnect", () => process.exit());
process.on("message", async (order) => {
  if (order.type === "play") {
    await server?.close();
    marks = [];
    server = await startModelServer({ replies: scriptOf(order.script) });
    process.send({ url: server.url });
  } else {
    process.send({ marks, firstRequest: server.requests[0]?.body, failedCalls: failedCalls(server.requests.at(-1)?.body) });
  }
});

function mark(type, facts) {
  marks.push({ type, at: Number(process.hrtime.bigint()) / 1e6, ...facts });
}

function failedCalls({ messages = [] } = {}) {
  return messages.flatMap(({ content }) => content).filter((block) => block.type === "tool_result" && block.is_error).length;
}
