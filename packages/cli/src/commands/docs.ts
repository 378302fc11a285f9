import type { IncomingMessage, ServerResponse } from "node:http";
import { RuntimeError } from "@outrider/runtime";
import { packed } from "@outrider/web/assets/docs";
import { exitCodes } from "../exit-codes.ts";
import { takeOwnWords } from "../flags/words.ts";
import { print } from "../terminal/visible.ts";

const usage = `Usage:
  outrider docs [--port N]    serve the documentation as a local site until Ctrl-C, on a free port by default

The documentation is part of the package: nothing is downloaded, and search works offline.
`;

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  svg: "image/svg+xml",
};

/** `outrider docs`. */
export async function runDocs(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, { switches: ["--help", "-h"], values: ["--port"] });
  if (words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const [word] = words.rest;
  if (word !== undefined) throw new RuntimeError("usage", `docs does not take ${JSON.stringify(word)}\n${usage}`);
  const port = portOf(words.value("--port") ?? "0");
  const files = unpack();
  const server = process.getBuiltinModule("node:http").createServer((request, response) => answer(request, response, files));
  const at = await new Promise<number>((resolve, reject) => {
    server.on("error", (error) => reject(new RuntimeError("usage", `The documents cannot be served: ${error.message}`)));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
  await print(`The documents are at http://127.0.0.1:${at}/ until Ctrl-C\n`);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
  server.close();
  server.closeAllConnections();
  return exitCodes.success;
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new RuntimeError("usage", `--port: ${JSON.stringify(text)} is no port`);
  return port;
}

function unpack(): Readonly<Record<string, string>> {
  const { brotliDecompressSync } = process.getBuiltinModule("node:zlib");
  return JSON.parse(brotliDecompressSync(Buffer.from(packed, "base64")).toString("utf8")); // written by our own build
}

/** Only what is in the package is found, by its exact name: no path of this machine is ever opened. */
function answer({ method, url = "/" }: IncomingMessage, response: ServerResponse, files: Readonly<Record<string, string>>): void {
  const path = url.replace(/[?#].*$/, "").replace(/^\//, "");
  const name = path === "" ? "index.html" : path;
  const text = Object.hasOwn(files, name) ? files[name] : undefined;
  const headers = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": "frame-ancestors 'none'", // beside the page's own, which leaves it nothing but this server
  };
  if (method !== "GET" && method !== "HEAD") {
    response.writeHead(405, { ...headers, allow: "GET, HEAD" }).end();
    return;
  }
  if (text === undefined) {
    response.writeHead(404, { ...headers, "content-type": "text/plain; charset=utf-8" }).end("There is no such page\n");
    return;
  }
  const type = types[name.replace(/^.*\./, "")] ?? "text/plain; charset=utf-8";
  response.writeHead(200, { ...headers, "content-type": type }).end(method === "HEAD" ? undefined : text);
}
