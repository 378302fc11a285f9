import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Writable } from "node:stream";
import { after, describe, it } from "node:test";
import { createScriptedProvider, type ScriptStep } from "../packages/runtime/src/model/scripted.ts";
import type { SessionOptions } from "../packages/runtime/src/session/session-options.ts";
import { InteractiveSession } from "../packages/runtime/src/session/interactive-session.ts";
import { sandboxClientConformance } from "../packages/runtime/src/testing/sandbox-client-conformance.ts";
import { createClientWorkspace } from "../packages/runtime/src/workspace/client-workspace.ts";
import { detectSandbox } from "../packages/runtime/src/workspace/detect-sandbox.ts";
import { type E2BSandbox, E2BSandboxClient } from "../packages/runtime/src/workspace/e2b-sandbox.ts";
import { InMemorySandboxClient } from "../packages/runtime/src/workspace/memory-sandbox.ts";
import type { SandboxClient, SandboxRunResult } from "../packages/runtime/src/workspace/sandbox-client.ts";
import { applyWorkspaceManifest, type WorkspaceManifest } from "../packages/runtime/src/workspace/workspace-manifest.ts";

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "outrider-client-"));
  folders.push(folder);
  return folder;
}

class ExitError extends Error {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  constructor(result: SandboxRunResult) {
    super(`exit status ${result.exitCode}`);
    this.exitCode = result.exitCode;
    this.stdout = result.stdout;
    this.stderr = result.stderr;
  }
}

/** Another machine in small, with the shape of E2B's object: its whole file system is a directory, its shell is real. */
function createMachine(disk: string = newFolder()): E2BSandbox & { disk: string } {
  for (const name of ["workspace", "tmp", "root"]) mkdirSync(join(disk, name), { recursive: true });
  const place = (path: string): string => join(disk, path);
  const system = ["/usr", "/bin", "/lib", "/lib64", "/etc"].flatMap((path) => ["--ro-bind-try", path, path]);
  const writable = ["workspace", "tmp", "root"].flatMap((name) => ["--bind", place(name), `/${name}`]);
  const inputs = new Map<number, Writable | null>();
  return {
    disk,
    commands: {
      async run(command, { cwd = "/root", envs = {}, stdin, onStdout, onStderr }) {
        const machine = [
          ...system,
          "--proc",
          "/proc",
          "--dev",
          "/dev",
          ...writable,
          "--unshare-pid",
          "--die-with-parent",
          "--chdir",
          cwd,
        ];
        const child = spawn("bwrap", [...machine, "--", "bash", "-c", command], {
          env: { PATH: "/usr/bin:/bin", HOME: "/root", ...envs },
          stdio: [stdin ? "pipe" : "ignore", "pipe", "pipe"],
          detached: true, // a group of its own: bubblewrap's second process outlives the first when that is killed at once
        });
        const pid = child.pid ?? 0;
        inputs.set(pid, child.stdin);
        const output = { stdout: "", stderr: "" };
        child.stdout?.setEncoding("utf8").on("data", (text: string) => {
          output.stdout += text;
          onStdout?.(text);
        });
        child.stderr?.setEncoding("utf8").on("data", (text: string) => {
          output.stderr += text;
          onStderr?.(text);
        });
        const ended = new Promise<SandboxRunResult>((resolve, reject) => {
          child.once("close", (code) => {
            const result = { exitCode: code ?? 137, ...output };
            if (result.exitCode === 0) resolve(result);
            else reject(new ExitError(result));
          });
        });
        ended.catch(() => {});
        return { pid, wait: () => ended, kill: async () => killGroup(pid) };
      },
      async sendStdin(pid, data) {
        await new Promise<void>((resolve, reject) => {
          inputs.get(pid)?.write(data, (error) => (error ? reject(error) : resolve()));
        });
      },
      closeStdin: async (pid) => void inputs.get(pid)?.end(),
    },
    files: {
      read: async (path) => new Uint8Array(readFileSync(place(path))),
      async write(path, content) {
        mkdirSync(dirname(place(path)), { recursive: true });
        writeFileSync(place(path), typeof content === "string" ? content : new Uint8Array(content));
      },
      makeDir: async (path) => void mkdirSync(place(path), { recursive: true }),
    },
    async createSnapshot() {
      const copy = newFolder();
      cpSync(disk, copy, { recursive: true });
      return { snapshotId: copy };
    },
  };
}

function killGroup(pid: number): boolean {
  try {
    return process.kill(-pid, "SIGKILL");
  } catch {
    return false; // gone by itself
  }
}

async function createE2B(): Promise<SandboxClient> {
  const restore = async (snapshotId: string): Promise<E2BSandbox> => {
    if (!existsSync(snapshotId)) throw new Error(`no snapshot ${snapshotId}`);
    return createMachine(snapshotId);
  };
  return new E2BSandboxClient(createMachine(), { restore });
}

const availability = await detectSandbox();
const noMachine = availability.available ? false : `no bubblewrap to build the other machine with: ${availability.reason}`;

describe("InMemorySandboxClient", () => {
  for (const item of sandboxClientConformance.filter(({ needs }) => needs !== "programs")) {
    it(item.name, () => item.run(async () => new InMemorySandboxClient()));
  }

  it("has no programs, unless somebody stands in for a shell", async () => {
    const bare = new InMemorySandboxClient();
    const handled = new InMemorySandboxClient({ run: (command) => ({ exitCode: 0, stdout: `ran ${command}`, stderr: "" }) });
    assert.deepEqual([(await bare.run("ls")).exitCode, (await handled.run("ls")).stdout], [127, "ran ls"]);
  });
});

describe("a kept state that is gone", () => {
  it("is named where a session cannot go on with it, with what to do and the cause", async () => {
    const cause = new Error("expired");
    const sandboxClient = Object.assign(new InMemorySandboxClient(), { restore: () => Promise.reject(cause) });
    const provider = createScriptedProvider([{ text: "never" }]);
    const session = new InteractiveSession({ cwd: newFolder(), provider, sandboxClient, sandboxSnapshotId: "snap-1" });
    await assert.rejects(session.open(), {
      code: "not-found",
      message: /back to its state snap-1: expired$/,
      hint: /forkSession/,
      cause,
    });
    await session.shutdown();
  });
});

describe("E2BSandboxClient", { skip: noMachine }, () => {
  for (const item of sandboxClientConformance) it(item.name, () => item.run(createE2B));

  it("offers no snapshots where the sandbox has none", () => {
    const { commands, files } = createMachine();
    const client = new E2BSandboxClient({ commands, files });
    assert.deepEqual([client.snapshot, client.restore], [undefined, undefined]);
  });

  it("starts programs that go on, which are written to and killed", async () => {
    const workspace = createClientWorkspace({ client: await createE2B() });
    let heard = "";
    const onOutput = ({ bytes }: { bytes: Uint8Array }): void => {
      heard += new TextDecoder().decode(bytes);
    };
    const program = await workspace.start({ file: "cat", args: [], takesInput: true, onOutput });
    assert.equal(await program.write("a line\n"), true);
    program.endInput();
    assert.deepEqual([await program.ended, heard], [{ end: "exit", exitCode: 0 }, "a line\n"]);
    const other = await workspace.start({ file: "sleep", args: ["60"] });
    await other.kill();
    assert.deepEqual(await other.ended, { end: "aborted" });
    await workspace.close();
  });

  it("passes on what is wrong with the service itself", async () => {
    const { files } = createMachine();
    const client = new E2BSandboxClient({ files, commands: { run: () => Promise.reject(new Error("sandbox not found")) } });
    await assert.rejects(client.run("true"), /sandbox not found/);
  });
});

describe("createClientWorkspace", { skip: noMachine }, () => {
  it("looks at files as the local one does", async () => {
    const machine = createMachine();
    const workspace = createClientWorkspace({ client: new E2BSandboxClient(machine) });
    mkdirSync(join(machine.disk, "workspace/dir"));
    writeFileSync(join(machine.disk, "workspace/it's a file"), "12345");
    symlinkSync("dir", join(machine.disk, "workspace/link"));
    const stat = await workspace.stat("it's a file");
    assert.deepEqual(
      {
        stat: stat && { kind: stat.kind, size: stat.size, recent: Math.abs(stat.mtimeMs - Date.now()) < 60_000 },
        nothing: await workspace.stat("nothing"),
        entries: await workspace.readDirectory("."),
        resolved: [await workspace.resolve("link/new/file"), await workspace.resolve("~/x"), await workspace.resolve("../etc")],
      },
      {
        stat: { kind: "file", size: 5, recent: true },
        nothing: undefined,
        entries: [
          { name: "dir", kind: "directory" },
          { name: "it's a file", kind: "file" },
          { name: "link", kind: "symlink" },
        ],
        resolved: ["/workspace/dir/new/file", "/root/x", "/etc"],
      },
    );
    await assert.rejects(workspace.readFile("nothing"), { code: "not-found" });
    await assert.rejects(workspace.readFile("dir"), { code: "usage" });
    await assert.rejects(workspace.readFile("it's a file", { maxBytes: 4 }), { code: "usage" });
  });

  it("runs programs with input, keeps the streams apart, and tells late from interrupted", async () => {
    const workspace = createClientWorkspace({ client: new E2BSandboxClient(createMachine()) });
    const streams = { stdout: "", stderr: "" };
    const base = { file: "bash", signal: new AbortController().signal, timeoutMs: 20_000 };
    const ran = await workspace.run({
      ...base,
      args: ["-c", "cat; echo 'it''s' >&2; exit 7"],
      input: "given",
      onOutput: ({ stream, bytes }) => {
        streams[stream] += Buffer.from(bytes).toString();
      },
    });
    const late = await workspace.run({ ...base, args: ["-c", "sleep 60"], timeoutMs: 300 });
    const stop = new AbortController();
    const interrupted = await workspace.run({
      ...base,
      args: ["-c", "echo x; sleep 60"],
      signal: stop.signal,
      onOutput: () => stop.abort(),
    });
    assert.deepEqual(
      { ran, late, interrupted, ...streams },
      {
        ran: { end: "exit", exitCode: 7 },
        late: { end: "timeout" },
        interrupted: { end: "aborted" },
        stdout: "given",
        stderr: "its\n",
      },
    );
    await workspace.close();
    await assert.rejects(workspace.run({ ...base, args: [] }), { code: "closed" });
  });
});

describe("a session with a sandbox client", { skip: noMachine }, () => {
  it("has Bash, Read, Write, Edit, Glob and Grep work on the other machine, and this one untouched", async () => {
    const project = newFolder();
    const machine = createMachine();
    writeFileSync(join(machine.disk, "workspace/there.txt"), "over there\n");
    const calls = [
      { name: "Bash", input: { command: "mkdir sub && cd sub && pwd" } },
      { name: "Bash", input: { command: "pwd; uname; cd .." } },
      { name: "Read", input: { file_path: "there.txt" } },
      { name: "Edit", input: { file_path: "there.txt", old_string: "over", new_string: "right" } },
      { name: "Write", input: { file_path: "new.txt", content: "made\n" } },
      { name: "Glob", input: { pattern: "*.txt" } },
      { name: "Grep", input: { pattern: "right", output_mode: "content" } },
    ].map((call, index): ScriptStep => ({ calls: [{ ...call, callId: `c${index}` }] }));
    const results = await outputs(calls, { cwd: project, sandboxClient: new E2BSandboxClient(machine) });
    assert.match(results[1] ?? "", /^\/workspace\/sub\nLinux/);
    assert.match(results[2] ?? "", /over there/);
    assert.match(results[5] ?? "", /new\.txt[\s\S]*there\.txt|there\.txt[\s\S]*new\.txt/);
    assert.match(results[6] ?? "", /right there/);
    assert.deepEqual(
      [
        readFileSync(join(machine.disk, "workspace/there.txt"), "utf8"),
        readFileSync(join(machine.disk, "workspace/new.txt"), "utf8"),
      ],
      ["right there\n", "made\n"],
    );
    assert.equal(existsSync(join(project, "new.txt")), false);
  });

  it("fills a fresh sandbox from the manifest, and not one that was brought back", async () => {
    const project = newFolder();
    writeFileSync(join(project, "local.txt"), "from here\n");
    const workspaceManifest: WorkspaceManifest = { entries: { "copy.txt": { type: "localFile", source: "local.txt" } } };
    const client = await createE2B();
    const read: ScriptStep[] = [{ calls: [{ name: "Read", input: { file_path: "copy.txt" }, callId: "c" }] }];
    const [first] = await outputs(read, { cwd: project, sandboxClient: client, workspaceManifest });
    await client.writeFile("/workspace/copy.txt", "changed there\n");
    const sandboxSnapshotId = (await client.snapshot?.()) ?? "";
    const [second] = await outputs(read, { cwd: project, sandboxClient: client, workspaceManifest, sandboxSnapshotId });
    assert.match(first ?? "", /from here/);
    assert.match(second ?? "", /changed there/);
  });
});

describe("a session with a sandbox", { skip: noMachine }, () => {
  it("boxes Bash, follows its directory, and says so", async () => {
    const project = newFolder();
    mkdirSync(join(project, "sub"));
    const calls = ["cd sub; echo x > /etc/x", "pwd; echo kept > ../kept.txt"].map(
      (command, index): ScriptStep => ({ calls: [{ name: "Bash", input: { command }, callId: `c${index}` }] }),
    );
    const events: string[] = [];
    const results = await outputs(calls, { cwd: project, sandbox: { mode: "require" }, overflowDirectory: newFolder() }, events);
    assert.match(results[0] ?? "", /Read-only file system/);
    assert.match(results[1] ?? "", /\/sub$/);
    assert.equal(readFileSync(join(project, "kept.txt"), "utf8"), "kept\n");
    assert.deepEqual(events, ["bubblewrap"]);
  });
});

describe("applyWorkspaceManifest", () => {
  const apply = async (entries: WorkspaceManifest["entries"], hostRoot: string = newFolder()): Promise<InMemorySandboxClient> => {
    const client = new InMemorySandboxClient();
    await applyWorkspaceManifest(client, { entries }, { hostRoot });
    return client;
  };
  const text = async (client: SandboxClient, path: string): Promise<string> =>
    Buffer.from(await client.readFile(path)).toString("latin1");

  it("writes files, directories, and copies from this machine byte for byte", async () => {
    const host = newFolder();
    mkdirSync(join(host, "src/deep"), { recursive: true });
    writeFileSync(join(host, "src/deep/a.bin"), Uint8Array.of(0, 255, 10));
    symlinkSync("/etc/passwd", join(host, "src/link"));
    const client = await apply(
      { "note.md": { type: "file", content: "hi" }, empty: { type: "dir" }, code: { type: "localDir", source: "src" } },
      host,
    );
    assert.deepEqual(
      [
        await text(client, "/workspace/note.md"),
        (await client.stat("/workspace/empty"))?.kind,
        await text(client, "/workspace/code/deep/a.bin"),
      ],
      ["hi", "directory", "\0\u00ff\n"],
    );
    await assert.rejects(client.readFile("/workspace/code/link"));
  });

  it("clones repositories with their address as one word", async () => {
    const commands: string[] = [];
    const client = new InMemorySandboxClient({
      run(command) {
        commands.push(command);
        return { exitCode: 0, stdout: "", stderr: "" };
      },
    });
    const entries = { repo: { type: "gitRepo", url: "https://example.com/a;b.git", ref: "v1" } } as const;
    await applyWorkspaceManifest(client, { entries }, { hostRoot: newFolder() });
    assert.deepEqual(commands, [
      "git clone --quiet -- 'https://example.com/a;b.git' /workspace/repo && git -C /workspace/repo checkout --quiet v1 --",
    ]);
  });

  it("refuses everything before it writes anything", async () => {
    const host = newFolder();
    const bad: WorkspaceManifest["entries"][] = [
      { "../out": { type: "file", content: "" } },
      { "/etc/x": { type: "file", content: "" } },
      { "a/../../b": { type: "file", content: "" } },
      { ".": { type: "dir" } },
      { x: { type: "localFile", source: "../secret" } },
      { x: { type: "localFile", source: "/etc/passwd" } },
      { x: { type: "localFile", source: "missing" } },
      { x: { type: "gitRepo", url: "ext::sh -c evil" } },
      { x: { type: "gitRepo", url: "--upload-pack=evil" } },
      { x: { type: "gitRepo", url: "https://example.com/a.git", ref: "--evil" } },
      { x: { type: "s3" } },
    ];
    for (const entries of bad) {
      const client = new InMemorySandboxClient();
      const all = { first: { type: "file", content: "written" }, ...entries } as const;
      await assert.rejects(
        applyWorkspaceManifest(client, { entries: all }, { hostRoot: host }),
        { code: "config" },
        JSON.stringify(entries),
      );
      await assert.rejects(client.readFile("/workspace/first"));
    }
  });
});

/** What the calls of a scripted session gave back, in order. */
async function outputs(
  calls: readonly ScriptStep[],
  options: Partial<SessionOptions> & { cwd: string },
  sandboxes: string[] = [],
): Promise<string[]> {
  const provider = createScriptedProvider([...calls, { text: "done" }], { contextWindow: 100_000 });
  const session = new InteractiveSession({
    provider,
    permissionMode: "bypassPermissions",
    env: { PATH: process.env["PATH"] ?? "" },
    ...options,
  });
  const results: string[] = [];
  const events = session.events();
  const outcome = await session.submit("go");
  await session.shutdown();
  for await (const event of events) {
    if (event.type === "tool.ended")
      results.push(JSON.stringify(event).includes('"text"') ? textOf(event) : JSON.stringify(event));
    if (event.type === "session.started" && event.sandbox !== undefined) sandboxes.push(event.sandbox);
  }
  assert.equal(outcome.type, "completed", JSON.stringify(outcome));
  return results;
}

function textOf(event: unknown): string {
  const texts: string[] = [];
  JSON.stringify(event, (key, value: unknown) => {
    if (key === "text" && typeof value === "string") texts.push(value);
    return value;
  });
  return texts.join("\n");
}
