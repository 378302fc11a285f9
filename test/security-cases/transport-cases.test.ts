import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { it, type TestContext } from "node:test";
import { startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { eventually, start } from "../e2e/command.ts";
import { folderFor, runCases } from "./case-table.ts";
import { transportCases } from "./transport-cases.ts";

runCases("transport", transportCases);

it("a run opens no socket that others could connect to", async (test) => {
  assert.deepEqual(await listening(test), []);
});

/** What a running command listens on, as the kernel tells it. */
async function listening(test: TestContext): Promise<string[]> {
  const folder = folderFor(test);
  const server = await startModelServer({ replies: [{ text: "wait", hang: true }] });
  test.after(() => server.close());
  const env = {
    HOME: folder,
    OUTRIDER_HOME: join(folder, ".outrider"),
    ANTHROPIC_API_KEY: "test-key-1234",
    ANTHROPIC_BASE_URL: server.url,
  };
  const { child, done } = start(["-p", "go"], { cwd: folder, env });
  try {
    await eventually(() => server.requests.length > 0, "the model is asked");
    const proc = `/proc/${child.pid}`;
    const own = new Set(
      readdirSync(`${proc}/fd`).flatMap((fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`${proc}/fd/${fd}`))?.[1] ?? []),
    );
    const internet = ["tcp", "tcp6"].flatMap((name) =>
      rowsOf(`${proc}/net/${name}`).filter((row) => row[3] === "0A" && own.has(row[9] ?? "")),
    );
    const local = rowsOf(`${proc}/net/unix`).filter((row) => row[3] === "00010000" && own.has(row[6] ?? ""));
    return [...internet, ...local].map((row) => row.join(" "));
  } finally {
    child.kill("SIGKILL");
    await done;
  }
}

function rowsOf(path: string): string[][] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n").slice(1).filter(Boolean);
  return lines.map((line) => line.trim().split(/\s+/));
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // closed in the meantime
  }
}
