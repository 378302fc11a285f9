// The floor on any wire, for scenes without tools: sends the request once and prints each piece of the answer.
// usage: node floor-answer.mjs REQUEST_FILE WIRE text|stream-json URL
import { readFileSync } from "node:fs";
import { wires } from "./wires.mjs";

const [requestFile, wire, format, base] = process.argv.slice(2);
const { request } = process.getBuiltinModule("node:http");
const { path, textIn } = wires[wire];
const body = readFileSync(requestFile);
const headers = { "content-type": "application/json", "content-length": body.length };
const response = await new Promise((resolve, reject) => {
  request(new URL(path(), base), { method: "POST", headers }, resolve).on("error", reject).end(body);
});
if (response.statusCode !== 200) throw new Error(`The server answered ${response.statusCode}`);

let rest = "";
response.setEncoding("utf8");
for await (const chunk of response) {
  const pieces = (rest + chunk).split("\n\n");
  rest = pieces.pop();
  let printed = "";
  for (const piece of pieces) {
    const data = piece.slice(piece.indexOf("data: ") + 6);
    if (data === "[DONE]") continue;
    const event = JSON.parse(data);
    const text = textIn(event);
    if (text) printed += format === "text" ? text : `${JSON.stringify({ type: "stream_event", event })}\n`;
  }
  if (printed) process.stdout.write(printed);
}
