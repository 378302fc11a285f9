// Serves the page on http://127.0.0.1:5173, or the port that is given. It may load its own files and talk to servers of this machine.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";

const types = {
  "index.html": "text/html",
  "chat.css": "text/css",
  "chat.js": "text/javascript",
  "connection.js": "text/javascript",
};
const port = Number(process.argv[2] ?? 5173);
const policy = "default-src 'self'; connect-src http://127.0.0.1:* ws://127.0.0.1:*; frame-ancestors 'none'; base-uri 'none'";

const server = createServer(async ({ url }, response) => {
  const name = url === "/" ? "index.html" : url.slice(1);
  if (!Object.hasOwn(types, name)) return response.writeHead(404).end();
  const file = await readFile(new URL(name, import.meta.url));
  response.writeHead(200, { "content-type": `${types[name]}; charset=utf-8`, "content-security-policy": policy }).end(file);
});
server.listen(port, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${server.address().port}\n`));
