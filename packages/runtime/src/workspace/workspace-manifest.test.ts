import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { InMemorySandboxClient } from "./memory-sandbox.ts";
import { applyWorkspaceManifest, type WorkspaceManifest, type WorkspaceManifestEntry } from "./workspace-manifest.ts";

const hostRoot = mkdtempSync(join(tmpdir(), "outrider-manifest-"));
after(() => rmSync(hostRoot, { recursive: true, force: true }));
mkdirSync(join(hostRoot, "src/deep"), { recursive: true });
writeFileSync(join(hostRoot, "src/a.txt"), "a");
writeFileSync(join(hostRoot, "src/deep/b.txt"), "b");
symlinkSync("/etc/hostname", join(hostRoot, "src/link"));
symlinkSync("/etc", join(hostRoot, "out"));

async function apply(entries: WorkspaceManifest["entries"], root?: string, exitCode = 0) {
  const commands: string[] = [];
  const client = new InMemorySandboxClient({
    run: (command) => {
      commands.push(command);
      return { exitCode, stdout: "", stderr: "no such repository\n" };
    },
  });
  await applyWorkspaceManifest(client, { entries, ...(root !== undefined && { root }) }, { hostRoot });
  const read = async (path: string): Promise<string> => new TextDecoder().decode(await client.readFile(path));
  return { client, commands, read };
}

describe("a manifest of a workspace", () => {
  it("fills the sandbox with what it names, and leaves links out", async () => {
    const { client, read } = await apply({
      "made/x.txt": { type: "file", content: "made" },
      empty: { type: "dir" },
      "copy.txt": { type: "localFile", source: "src/a.txt" },
      tree: { type: "localDir", source: join(hostRoot, "src") },
    });
    assert.deepEqual(
      await Promise.all(["made/x.txt", "copy.txt", "tree/a.txt", "tree/deep/b.txt"].map((path) => read(`/workspace/${path}`))),
      ["made", "a", "a", "b"],
    );
    assert.equal((await client.stat("/workspace/empty"))?.kind, "directory");
    assert.equal(await client.stat("/workspace/tree/link"), undefined);
    assert.equal(await (await apply({ x: { type: "file", content: "y" } }, "/else/")).read("/else/x"), "y");
  });

  it("clones repositories, at a place in them where one is named", async () => {
    const { commands } = await apply({
      a: { type: "gitRepo", url: "https://example.com/a.git" },
      b: { type: "gitRepo", url: "git@example.com:b.git", ref: "v1.0" },
    });
    assert.deepEqual(commands, [
      "git clone --quiet -- https://example.com/a.git /workspace/a",
      "git clone --quiet -- git@example.com:b.git /workspace/b && git -C /workspace/b checkout --quiet v1.0 --",
    ]);
    const failing = apply({ a: { type: "gitRepo", url: "https://example.com/a.git" } }, undefined, 128);
    await assert.rejects(failing, /"a": https:\/\/example\.com\/a\.git could not be cloned: no such repository\.$/);
  });

  const wrong: [string, string, WorkspaceManifestEntry, string?][] = [
    ["a relative root", "x", { type: "dir" }, "work"],
    ["a path out of the root", "../x", { type: "dir" }],
    ["the root itself", ".", { type: "dir" }],
    ["an absolute path", "/etc/x", { type: "dir" }],
    ["a path with NUL", "a\0b", { type: "dir" }],
    ["a source that is missing", "x", { type: "localFile", source: "missing" }],
    ["a source outside of the project", "x", { type: "localFile", source: "/etc/hostname" }],
    ["a source that leads out of it", "x", { type: "localDir", source: "out" }],
    ["a folder as a file", "x", { type: "localFile", source: "src" }],
    ["a file as a folder", "x", { type: "localDir", source: "src/a.txt" }],
    ["an option as an address", "x", { type: "gitRepo", url: "--upload-pack=evil" }],
    ["a path as an address", "x", { type: "gitRepo", url: "/etc" }],
    ["an option as a branch", "x", { type: "gitRepo", url: "https://example.com/a.git", ref: "--orphan" }],
    ["a bucket", "x", { type: "s3" }],
  ];
  for (const [what, name, entry, root] of wrong)
    it(`is refused before anything is written: ${what}`, async () => {
      const client = new InMemorySandboxClient();
      const entries = { "first.txt": { type: "file", content: "x" }, [name]: entry } as const;
      const manifest = { entries, ...(root !== undefined && { root }) };
      await assert.rejects(applyWorkspaceManifest(client, manifest, { hostRoot }), { code: "config" });
      assert.deepEqual(await client.readDirectory("/"), []);
    });
});
