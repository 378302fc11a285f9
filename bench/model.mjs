// The scripted model in a process of its own: its work is neither counted nor in the way. Driven over Node's IPC by model-process.mjs.
import { subscribe } from "node:diagnostics_channel";
import { startModelServer } from "../packages/runtime/dist/testing.js";
import { scriptOf } from "./scripts.mjs";

let server;
let marks = [];
/** Bodies: a long conversation comes again with every request, and all of them would not fit. */
let first;
let last;

// Node's own channels say when bytes come and go; a time taken in the script would count the server's parsing too.
subscribe("http.server.request.start", ({ request }) => mark("request", { bytes: Number(request.headers["content-length"]) }));
subscribe("http.server.response.finish", () => mark("answered"));

process.on("disconnect", () => process.exit());
process.on("message", async (order) => {
  if (order.type === "play") {
    await server?.close();
    marks = [];
    first = undefined;
    const script = scriptOf(order.script);
    const replies = (request, index) => {
      first ??= request.body;
      last = request.body;
      return script(request, index);
    };
    server = await startModelServer({ replies, keepsRequests: false });
    process.send({ url: server.url });
  } else {
    process.send({ marks, firstRequest: first, failedCalls: failedCalls(last) });
  }
});

function mark(type, facts) {
  marks.push({ type, at: Number(process.hrtime.bigint()) / 1e6, ...facts });
}

function failedCalls({ messages = [] } = {}) {
  return messages.flatMap(({ content }) => content).filter((block) => block.type === "tool_result" && block.is_error).length;
}
