// node server.ts: prints its address and where the token is. Ctrl-C ends it.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHttpServer, SessionRecords, TokenStore } from "@outrider/runtime/server";
import { openHost } from "./host.ts";

const folder = mkdtempSync(join(tmpdir(), "notes-server-"));
const tokens = new TokenStore(folder);
tokens.openOwner();
const server = await openHttpServer({
  host: openHost(),
  version: "1.0.0",
  tokens,
  records: new SessionRecords(join(folder, "sessions.jsonl")),
  roots: [process.cwd()],
  listen: { type: "tcp", address: "127.0.0.1", port: Number(process.env["PORT"] ?? 0) },
});
process.stdout.write(`${server.url} ${tokens.tokenPath}\n`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void server.close());
