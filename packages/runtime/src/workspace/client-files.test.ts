import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { clientFiles } from "./client-files.ts";
import { featuresOf } from "./detect-sandbox.ts";
import type { SandboxClient } from "./sandbox-client.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-client-files-")));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A machine that can do no more than run commands: this one. */
const shell: SandboxClient = {
  run: (command) =>
    new Promise((resolve) => {
      execFile("/bin/sh", ["-c", command], { env: { PATH: "/usr/bin:/bin", HOME: "/home/somebody" } }, (error, stdout, stderr) =>
        resolve({ exitCode: error ? 1 : 0, stdout, stderr }),
      );
    }),
  readFile: () => Promise.reject(new Error("not used")),
  writeFile: () => Promise.reject(new Error("not used")),
};
const files = clientFiles(shell);

describe("files of another machine, seen through its shell", () => {
  it("are listed by kind, in order, whatever they are called", async () => {
    const place = join(folder, "it's a list");
    mkdirSync(join(place, "folder"), { recursive: true });
    for (const name of ["b", ".hidden", "..odd", "with\nline"]) writeFileSync(join(place, name), "");
    symlinkSync("nowhere", join(place, "link"));
    assert.deepEqual(await files.readDirectory(place), [
      { kind: "file", name: "..odd" },
      { kind: "file", name: ".hidden" },
      { kind: "file", name: "b" },
      { kind: "directory", name: "folder" },
      { kind: "symlink", name: "link" },
      { kind: "file", name: "with\nline" },
    ]);
    mkdirSync(join(folder, "empty"));
    assert.deepEqual(await files.readDirectory(join(folder, "empty")), []);
    await assert.rejects(files.readDirectory(join(folder, "missing")), { code: "usage" });
  });

  it("have a size, a time to the millisecond and a kind, through links", async () => {
    const path = join(folder, "file");
    writeFileSync(path, "12345", { mode: 0o600 });
    utimesSync(path, 1_000, 1_234.567);
    symlinkSync("file", join(folder, "link"));
    const stat = { kind: "file", size: 5, mtimeMs: 1_234_567, mode: 0o100600 };
    assert.deepEqual(await files.stat(path), stat);
    assert.deepEqual(await files.stat(join(folder, "link")), stat);
    assert.equal((await files.stat(folder))?.kind, "directory");
    assert.equal((await files.stat("/dev/null"))?.kind, "other");
    assert.equal(await files.stat(join(folder, "missing")), undefined);
  });

  it("are found where they really are, and made with their parents", async () => {
    mkdirSync(join(folder, "real"), { recursive: true });
    symlinkSync("real", join(folder, "other"));
    assert.equal(await files.realPath(join(folder, "other/new.txt")), join(folder, "real/new.txt"));
    assert.equal(await files.home(), "/home/somebody");
    await files.makeDirectory(join(folder, "x/y"));
    assert.equal((await files.stat(join(folder, "x/y")))?.kind, "directory");
    await assert.rejects(files.makeDirectory("/proc/x"), { code: "usage" });
  });

  it("are asked of a client that looks at them itself", async () => {
    const stat = { kind: "file", size: 1, mtimeMs: 1, mode: 1 } as const;
    const own = clientFiles({ ...shell, stat: async () => stat, readDirectory: async () => [], makeDirectory: async () => {} });
    assert.deepEqual(await own.stat("/missing"), stat);
    assert.deepEqual(await own.readDirectory("/missing"), []);
    assert.equal(await own.realPath("/a/../b"), "/b");
    assert.equal(await own.home(), "/root");
    await own.makeDirectory("/proc/x");
  });
});

describe("what a bubblewrap can do", () => {
  it("goes by its release", () => {
    assert.deepEqual(
      ["0.6.3", "0.7.0", "0.8.0", "1.0.0"].map((version) => featuresOf(version)),
      [
        { tmpfsSize: false, disableUserNamespaces: false },
        { tmpfsSize: true, disableUserNamespaces: false },
        { tmpfsSize: true, disableUserNamespaces: true },
        { tmpfsSize: true, disableUserNamespaces: true },
      ],
    );
  });
});
