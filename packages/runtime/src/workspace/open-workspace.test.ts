import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { detectSandbox } from "./detect-sandbox.ts";
import { openWorkspace, type OpenedWorkspace } from "./open-workspace.ts";
import type { SandboxOptions } from "./sandbox.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-open-workspace-")));
after(() => rmSync(folder, { recursive: true, force: true }));
const root = join(folder, "project");
mkdirSync(root);
writeFileSync(join(root, "a.txt"), "a");

const mine = `/tmp/outrider-mine-${process.pid}`;

const env = { PATH: process.env["PATH"] ?? "" };
const open = (sandbox: SandboxOptions): Promise<OpenedWorkspace> =>
  openWorkspace({ root, env, overflowDirectory: join(folder, "overflow"), sandbox, isPublicAddress: () => false });

async function outputOf({ workspace }: OpenedWorkspace, script: string): Promise<string> {
  let output = "";
  const onOutput = ({ bytes }: { bytes: Uint8Array }): void => {
    output += Buffer.from(bytes).toString();
  };
  const signal = new AbortController().signal;
  await workspace.run({ file: "/bin/sh", args: ["-c", script], timeoutMs: 20_000, signal, onOutput });
  return output.trim();
}

describe("a workspace with a sandbox where there is one", () => {
  it("reads and writes files of the project before and after a command, and runs that in the box", async () => {
    const opened = await open({ mode: "auto" });
    const { workspace } = opened;
    try {
      assert.equal(Buffer.from(await workspace.readFile("a.txt")).toString(), "a");
      const isBoxed = opened.places?.sandbox === "bubblewrap" && (await detectSandbox()).available;
      assert.equal(
        await outputOf(opened, `cat a.txt; echo b > b.txt; test -e ${mine} || echo -n ' none'; echo c > ${mine}`),
        "a none",
      );
      assert.equal(Buffer.from(await workspace.readFile("b.txt")).toString(), "b\n");
      assert.equal(await workspace.resolve("b.txt"), join(root, "b.txt"));
      // A command's /tmp is its own, and files are found where commands see them.
      assert.equal(Buffer.from(await workspace.readFile(mine)).toString(), "c\n");
      assert.equal((await workspace.resolve(mine)) === mine, !isBoxed);
    } finally {
      await workspace.close();
      rmSync(mine, { force: true });
    }
  });

  it("is closed although nothing ever ran", async () => {
    const { workspace } = await open({ mode: "auto" });
    await workspace.close();
  });

  it("refuses what cannot be set before anything runs", async () => {
    await assert.rejects(open({ mode: "auto", network: { domains: ["no domain!"] } }), { code: "config" });
    await assert.rejects(open({ mode: "auto", allowWrite: ["/"] }), { code: "config" });
  });
});
