import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, link, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createLocalWorkspace } from "./local.ts";
import type { Workspace } from "./workspace.ts";

let base: string;
let root: string;
let workspace: Workspace;

before(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "outrider-local-")));
  root = join(base, "root");
  await mkdir(join(base, "home"));
  await mkdir(join(root, "real"), { recursive: true });
  await symlink(root, join(base, "link-to-root"));
  await symlink("real", join(root, "link"));
  await symlink("real/not-yet.txt", join(root, "dangling"));
  await symlink("x/../circle", join(root, "circle"));
  await symlink("loop", join(root, "loop"));
  await writeFile(join(root, "real/file.txt"), "hello");
  execFileSync("mkfifo", [join(root, "fifo")]);
  workspace = createLocalWorkspace({
    root: join(base, "link-to-root"),
    home: join(base, "home"),
    env: { PATH: process.env["PATH"] ?? "" },
    overflowDirectory: join(base, "state/overflow"),
  });
});

after(async () => {
  await workspace.close();
  await rm(base, { recursive: true, force: true });
});

const usage = (message: RegExp) => ({ name: "RuntimeError", code: "usage", message });

describe("createLocalWorkspace", () => {
  it("knows its root by its real path and refuses one that is no directory", () => {
    assert.equal(workspace.root, root);
    const options = { env: {}, overflowDirectory: base };
    assert.throws(() => createLocalWorkspace({ ...options, root: join(base, "none") }), { code: "not-found" });
    assert.throws(() => createLocalWorkspace({ ...options, root: join(root, "real/file.txt") }), usage(/is not a directory/));
  });
});

describe("resolve", () => {
  it("answers real paths, also for what does not exist yet", async () => {
    const cases: [string, string][] = [
      [".", root],
      ["a/b/c.txt", join(root, "a/b/c.txt")],
      ["link/file.txt", join(root, "real/file.txt")],
      ["link/new/deep.txt", join(root, "real/new/deep.txt")],
      ["dangling", join(root, "real/not-yet.txt")],
      ["real/file.txt/below", join(root, "real/file.txt/below")],
      [join(base, "link-to-root/none"), join(root, "none")],
      ["~", join(base, "home")],
      ["~/x", join(base, "home/x")],
      ["~nobody", join(root, "~nobody")],
      ["../../../../../../../../../..", "/"],
      ["/none/at/all", "/none/at/all"],
    ];
    const resolved = await Promise.all(cases.map(async ([path]) => [path, await workspace.resolve(path)]));
    assert.deepEqual(resolved, cases);
  });

  it("refuses what is another file for every process", { skip: process.platform !== "linux" }, async () => {
    await symlink("/proc/self/cwd/x", join(base, "to-cwd"));
    await symlink("/dev/fd/0", join(base, "to-input"));
    const paths = [
      "/proc/self/cwd/x",
      `/proc/${process.pid}/root/etc`,
      "/proc/thread-self/cwd",
      "../to-cwd",
      "../to-cwd/y",
      "../to-input",
    ];
    for (const path of [...paths, `/proc/self/task/${process.pid}/cwd/x`, "/proc/self/fd/0"])
      await assert.rejects(workspace.resolve(path), usage(/another place for every process/), path);
    assert.equal(await workspace.resolve("/proc/self/status"), `/proc/${process.pid}/status`);
    assert.equal(await workspace.resolve("/proc/mounts"), `/proc/${process.pid}/mounts`);
  });

  it("refuses what is no path", async () => {
    await assert.rejects(workspace.resolve(""), usage(/empty/));
    await assert.rejects(workspace.resolve("a\0b"), usage(/NUL/));
    await assert.rejects(workspace.resolve("file:///etc/passwd"), usage(/URL/));
    await assert.rejects(workspace.resolve("loop/x"), usage(/circle/));
    await assert.rejects(workspace.resolve("circle"), usage(/circle/));
    await assert.rejects(workspace.resolve("x".repeat(5_000)), usage(/too long/));
    const homeless = createLocalWorkspace({ root, env: {}, overflowDirectory: base });
    await assert.rejects(homeless.resolve("~/x"), usage(/home directory/));
  });
});

describe("stat and readDirectory", () => {
  it("tell kinds apart, and what is there from what is not", async () => {
    const kinds = await Promise.all(
      ["real/file.txt", "link", "fifo", "none", "real/file.txt/x"].map((path) => workspace.stat(path)),
    );
    assert.deepEqual(
      kinds.map((stat) => stat?.kind),
      ["file", "directory", "other", undefined, undefined],
    );
    assert.equal(kinds[0]?.size, 5);
    assert.deepEqual(await workspace.readDirectory("."), [
      { name: "circle", kind: "symlink" },
      { name: "dangling", kind: "symlink" },
      { name: "fifo", kind: "other" },
      { name: "link", kind: "symlink" },
      { name: "loop", kind: "symlink" },
      { name: "real", kind: "directory" },
    ]);
    await assert.rejects(workspace.readDirectory("none"), { code: "not-found" });
    await assert.rejects(workspace.readDirectory("real/file.txt"), usage(/not a directory/));
  });
});

describe("readFile", () => {
  it("reads regular files, also those that lie about their size", async () => {
    assert.equal(Buffer.from(await workspace.readFile("link/file.txt")).toString(), "hello");
    if (process.platform === "linux")
      assert.match(Buffer.from(await workspace.readFile("/proc/self/status")).toString(), /^Name:/);
  });

  it("refuses pipes and devices without waiting for them, directories, and what is not there", async () => {
    await assert.rejects(workspace.readFile("fifo"), usage(/device, pipe or socket/));
    await assert.rejects(workspace.readFile("/dev/zero"), usage(/device, pipe or socket/));
    await assert.rejects(workspace.readFile("real"), usage(/is a directory/));
    await assert.rejects(workspace.readFile("none"), { code: "not-found" });
  });

  it("refuses what is larger than allowed, to the byte", async () => {
    assert.equal((await workspace.readFile("real/file.txt", { maxBytes: 5 })).length, 5);
    await assert.rejects(workspace.readFile("real/file.txt", { maxBytes: 4 }), usage(/too large.*5 bytes.*4 are allowed/));
    if (process.platform === "linux")
      await assert.rejects(workspace.readFile("/proc/self/status", { maxBytes: 10 }), usage(/too large/));
  });
});

describe("removeFile", () => {
  it("removes a file, also one that a link leads to, and nothing else", async () => {
    await workspace.writeFile("real/gone.txt", "x");
    await workspace.removeFile("link/gone.txt");
    assert.equal(await workspace.stat("real/gone.txt"), undefined);
    await assert.rejects(workspace.removeFile("real"), usage(/is a directory/));
    await assert.rejects(workspace.removeFile("real/gone.txt"), /does not exist/);
    await assert.rejects(workspace.removeFile(join(root, "link/file.txt"), { exact: true }), usage(/links are not followed/));
    await symlink("file.txt", join(root, "real/soft"));
    await assert.rejects(workspace.removeFile(join(root, "real/soft"), { exact: true }), usage(/links are not followed/));
    await rm(join(root, "real/soft"));
    assert.equal(await readFile(join(root, "real/file.txt"), "utf8"), "hello");
  });
});

describe("writeFile", () => {
  it("creates parent directories and gives new files the usual mode", async () => {
    await workspace.writeFile("made/here/new.txt", "é");
    const path = join(root, "made/here/new.txt");
    const usual = join(root, "made/usual");
    await writeFile(usual, "");
    assert.equal(await readFile(path, "utf8"), "é");
    assert.equal((await stat(path)).mode, (await stat(usual)).mode);
    await rm(join(root, "made"), { recursive: true });
  });

  it("keeps the permission bits of a file that was there, but not setuid", async () => {
    const path = join(root, "real/script.sh");
    await writeFile(path, "old");
    for (const mode of [0o755, 0o600, 0o664, 0o4755]) {
      await chmod(path, mode);
      await workspace.writeFile(path, new TextEncoder().encode(`mode ${mode}`));
      assert.deepEqual(
        { text: await readFile(path, "utf8"), mode: (await stat(path)).mode & 0o7777 },
        { text: `mode ${mode}`, mode: mode & 0o777 },
      );
    }
    await rm(path);
  });

  it("writes through symbolic links, also through one that leads to nothing yet", async () => {
    await workspace.writeFile("link/file.txt", "through");
    await workspace.writeFile("dangling", "born");
    assert.deepEqual(
      [await readFile(join(root, "real/file.txt"), "utf8"), await readFile(join(root, "real/not-yet.txt"), "utf8")],
      ["through", "born"],
    );
    await writeFile(join(root, "real/file.txt"), "hello");
    await rm(join(root, "real/not-yet.txt"));
    assert.equal((await readdir(root)).length, 6);
  });

  it("never shows half a file to a reader", async () => {
    const path = join(root, "real/flip.txt");
    const contents = ["a".repeat(300_000), "b".repeat(300_000)];
    await workspace.writeFile(path, contents[0] ?? "");
    let writing = true;
    const writer = (async () => {
      for (let round = 0; round < 40; round++) await workspace.writeFile(path, contents[round % 2] ?? "");
      writing = false;
    })();
    while (writing) assert.ok(contents.includes(await readFile(path, "utf8")));
    await writer;
    await rm(path);
  });

  it("leaves the old file and no temporary one behind when it fails", async () => {
    await assert.rejects(workspace.writeFile("real", "x"), usage(/is a directory/));
    await assert.rejects(workspace.writeFile("fifo", "x"), usage(/device, pipe or socket/));
    await assert.rejects(workspace.writeFile("/dev/null", "x"), usage(/device, pipe or socket/));
    await assert.rejects(workspace.writeFile("real/file.txt/below", "x"), usage(/not a directory/));
    await assert.rejects(workspace.writeFile(`real/${"n".repeat(300)}`, "x"), usage(/too long/));
    // What cannot become bytes fails in the middle, after the temporary file was made.
    await assert.rejects(workspace.writeFile("real/file.txt", 5 as unknown as string), usage(/could not be written/));
    assert.deepEqual(
      [await readdir(join(root, "real")), await readFile(join(root, "real/file.txt"), "utf8")],
      [["file.txt"], "hello"],
    );
  });

  it("respects a file that must not be written", { skip: process.getuid?.() === 0 }, async () => {
    const path = join(root, "real/fixed.txt");
    await writeFile(path, "old", { mode: 0o444 });
    await assert.rejects(workspace.writeFile(path, "new"), usage(/permission denied/));
    assert.equal(await readFile(path, "utf8"), "old");
    await rm(path);
  });
});

describe("an exact path", () => {
  const exact = { exact: true } as const;
  const refused = usage(/links are not followed/);

  it("is used like any other as long as no link is in it", async () => {
    const path = join(root, "real/exact/new.txt");
    await workspace.writeFile(path, "one", exact);
    assert.equal(Buffer.from(await workspace.readFile(path, exact)).toString(), "one");
    assert.equal((await workspace.stat(path, exact))?.size, 3);
    assert.deepEqual(await workspace.readDirectory(join(root, "real/exact"), exact), [{ name: "new.txt", kind: "file" }]);
    assert.equal(await workspace.stat(join(root, "real/none"), exact), undefined);
    await assert.rejects(workspace.readFile(join(root, "real/none"), exact), { code: "not-found" });
    await assert.rejects(workspace.readDirectory(join(root, "none"), exact), { code: "not-found" });
    await assert.rejects(workspace.readFile(join(root, "fifo"), exact), usage(/device, pipe or socket/));
    await assert.rejects(workspace.readFile(join(root, "real"), exact), usage(/is a directory/));
    await assert.rejects(workspace.readDirectory(path, exact), usage(/not a directory/));
    await rm(join(root, "real/exact"), { recursive: true });
    if (process.platform === "linux")
      assert.match(Buffer.from(await workspace.readFile(`/proc/${process.pid}/status`, exact)).toString(), /^Name:/);
  });

  it("is refused with a link in its last or in an earlier place, and nothing is made behind it", async () => {
    await symlink("file.txt", join(root, "real/alias"));
    for (const path of ["link/file.txt", "real/alias"].map((name) => join(root, name))) {
      await assert.rejects(workspace.readFile(path, exact), refused);
      await assert.rejects(workspace.stat(path, exact), refused);
      await assert.rejects(workspace.writeFile(path, "x", exact), refused);
    }
    await assert.rejects(workspace.readDirectory(join(root, "link"), exact), refused);
    await assert.rejects(workspace.writeFile(join(root, "link/made/new.txt"), "x", exact), refused);
    await assert.rejects(workspace.writeFile(join(root, "dangling"), "x", exact), refused);
    await assert.rejects(workspace.writeFile(join(root, "dangling/new.txt"), "x", exact), refused);
    await rm(join(root, "real/alias"));
    assert.deepEqual(
      [await readdir(join(root, "real")), await readFile(join(root, "real/file.txt"), "utf8")],
      [["file.txt"], "hello"],
    );
  });

  it("can be read while the file is replaced again and again", async () => {
    const path = join(root, "real/flip.txt");
    await workspace.writeFile(path, "a");
    let writing = true;
    const writer = (async () => {
      for (let round = 0; round < 200; round++) await workspace.writeFile(path, "a");
      writing = false;
    })();
    while (writing) assert.equal(Buffer.from(await workspace.readFile(path, exact)).toString(), "a");
    await writer;
    await rm(path);
  });

  it("may be a hard link", async () => {
    await link(join(root, "real/file.txt"), join(root, "real/twin.txt"));
    assert.equal(Buffer.from(await workspace.readFile(join(root, "real/twin.txt"), exact)).toString(), "hello");
    await rm(join(root, "real/twin.txt"));
  });

  it("leaves no file open, whether it is used or refused", { skip: process.platform !== "linux" }, async () => {
    const before = (await readdir("/proc/self/fd")).length;
    for (let round = 0; round < 20; round++) {
      await workspace.writeFile(join(root, "real/open.txt"), "x", exact);
      await workspace.readFile(join(root, "real/open.txt"), exact);
      await workspace.readDirectory(join(root, "real"), exact);
      await assert.rejects(workspace.readFile(join(root, "link/file.txt"), exact), refused);
      await assert.rejects(workspace.writeFile(join(root, "link/made/new.txt"), "x", exact), refused);
      await assert.rejects(workspace.readDirectory(join(root, "link"), exact), refused);
    }
    await rm(join(root, "real/open.txt"));
    assert.ok((await readdir("/proc/self/fd")).length < before + 10);
  });
});

describe("saveOverflow", () => {
  it("makes a new private file each time, whatever the name", async () => {
    const paths = [
      await workspace.saveOverflow("out.txt", "one"),
      await workspace.saveOverflow("out.txt", "two"),
      await workspace.saveOverflow("../../etc/é b", "three"),
    ];
    const directory = join(base, "state/overflow");
    const shapes = paths.map((path) => path.replace(`${directory}/`, "").replace(/[0-9a-f]{8}/, "#"));
    assert.deepEqual(shapes, ["out-#.txt", "out-#.txt", "etc-b-#"]);
    assert.equal(new Set(paths).size, 3);
    assert.deepEqual(await Promise.all(paths.map((path) => readFile(path, "utf8"))), ["one", "two", "three"]);
    assert.deepEqual([(await stat(paths[0] ?? "")).mode & 0o777, (await stat(directory)).mode & 0o777], [0o600, 0o700]);
  });
});
