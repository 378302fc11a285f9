import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { LiveCall } from "../packages/runtime/src/engine/live-call.ts";
import { RepeatedCalls } from "../packages/runtime/src/engine/repeated-calls.ts";
import { runToolCall } from "../packages/runtime/src/engine/tool-call.ts";
import { PermissionGate } from "../packages/runtime/src/permissions/gate.ts";
import type { JsonObject } from "../packages/runtime/src/protocol/content.ts";
import { createBuiltinTools } from "../packages/runtime/src/tools/builtin/builtin-tools.ts";
import { createGlobTool } from "../packages/runtime/src/tools/builtin/glob.ts";
import { createGrepTool } from "../packages/runtime/src/tools/builtin/grep.ts";
import { createToolMemory, type Tool } from "../packages/runtime/src/tools/tool.ts";
import { createRedactor } from "../packages/runtime/src/util/redact.ts";
import { createLocalWorkspace } from "../packages/runtime/src/workspace/local.ts";
import type { Workspace } from "../packages/runtime/src/workspace/workspace.ts";

/** When the swap happens: after the decision, or later, when the tool has looked where the path leads and is about to use it. */
type Moment =
  | "after the decision"
  | "before stat"
  | "before readFile"
  | "before writeFile"
  | "before readDirectory"
  | "before run";

const secret = "the secret outside";
const original = "old line\n";

type Scene = { readonly top: string; readonly project: string; readonly outside: string };
type Swap = (scene: Scene) => void;
type Call = { readonly tool: string; readonly input: JsonObject };

/** `project/deep/folder/file.txt` is approved; outside there are the same names. */
function setUp(): Scene {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-races-")));
  const scene: Scene = { top, project: join(top, "project"), outside: join(top, "outside") };
  mkdirSync(join(scene.project, "deep/folder"), { recursive: true });
  mkdirSync(join(scene.outside, "folder"), { recursive: true });
  writeFileSync(join(scene.project, "deep/folder/file.txt"), original);
  for (const name of ["file.txt", "folder/file.txt"]) writeFileSync(join(scene.outside, name), `${original}${secret}\n`);
  return scene;
}

const moveAway = ({ top, project }: Scene, place: string): void => renameSync(join(project, place), join(top, "moved"));

const replace = (place: string, by: string): Swap => {
  return (scene) => {
    moveAway(scene, place);
    symlinkSync(join(scene.outside, by), join(scene.project, place));
  };
};

const swaps: Record<string, Swap> = {
  "the file": replace("deep/folder/file.txt", "file.txt"),
  "its folder": replace("deep/folder", "folder"),
  "the folder of its folder": replace("deep", "."),
};

type Stage = { readonly workspace: Workspace; run(call: Call): Promise<string>; close(): Promise<void> };

function openStage({ project, top }: Scene, onMoment: (moment: Moment) => void): Stage {
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  const local = createLocalWorkspace({ root: project, env, overflowDirectory: join(top, "overflow") });
  const at =
    <Args extends unknown[], Result>(moment: Moment, effect: (...args: Args) => Result) =>
    (...args: Args): Result => {
      onMoment(moment);
      return effect(...args);
    };
  const workspace: Workspace = {
    ...local,
    stat: at("before stat", local.stat),
    readFile: at("before readFile", local.readFile),
    writeFile: at("before writeFile", local.writeFile),
    readDirectory: at("before readDirectory", local.readDirectory),
    run: at("before run", local.run),
  };
  const builtIn = (tool: Tool): Tool => ({ ...tool, name: `built-in ${tool.name}` });
  const search = [builtIn(createGrepTool({ ripgrep: false })), builtIn(createGlobTool({ ripgrep: false }))];
  const tools = new Map([...createBuiltinTools({}), ...search].map((tool) => [tool.name, tool]));
  const memory = createToolMemory();
  return {
    workspace,
    async run({ tool, input }) {
      const result = await runToolCall(
        {
          tools,
          workspace,
          memory,
          policy: () => ({
            mode: "acceptEdits",
            allow: [],
            ask: [],
            deny: [],
            base: { root: local.root, home: undefined },
            readable: [],
          }),
          gate: new PermissionGate(),
          answerable: false,
          outputLimit: 30_000,
          redactor: createRedactor(),
          emit: () => {},
          flush: async () => onMoment("after the decision"),
          signal: new AbortController().signal,
          newId: () => "id",
          clock: () => 0,
          halt: () => {},
          halted: () => undefined,
          repeats: new RepeatedCalls({ noteAt: 3, stopAt: 6 }),
        },
        { type: "tool-call", callId: "c", name: tool, input } as LiveCall, // as if a model had just made it
      );
      return JSON.stringify(result.content);
    },
    close: () => local.close(),
  };
}

/** Runs the call, with the read that Write and Edit need before it, and swaps once at the moment. Nothing outside may be read or changed. */
async function race(moment: Moment, swap: Swap, call: Call): Promise<{ told: string; files: Record<string, string> }> {
  const scene = setUp();
  let armed = false;
  const stage = openStage(scene, (now) => {
    if (!armed || now !== moment) return;
    armed = false;
    swap(scene);
  });
  try {
    await stage.run({ tool: "Read", input: { file_path: "deep/folder/file.txt" } });
    const before = treeOf(scene.outside);
    armed = true;
    const told = await stage.run(call);
    assert.equal(armed, false, "the moment came");
    assert.ok(!told.includes(secret), `nothing outside is read: ${told}`);
    assert.deepEqual(treeOf(scene.outside), before, "nothing outside is changed");
    return { told, files: treeOf(scene.top) };
  } finally {
    await stage.close();
    rmSync(scene.top, { recursive: true, force: true });
  }
}

/** Every path below a folder, with the text of files and the targets of links. */
function treeOf(folder: string, below: string = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(folder, below))) {
    const path = join(below, name);
    const stat = lstatSync(join(folder, path));
    if (stat.isDirectory()) Object.assign(found, { [path]: "folder" }, treeOf(folder, path));
    else found[path] = stat.isSymbolicLink() ? `→ ${readlinkSync(join(folder, path))}` : readFileSync(join(folder, path), "utf8");
  }
  return found;
}

const file = "deep/folder/file.txt";
const calls: { call: Call; moments: Moment[] }[] = [
  { call: { tool: "Read", input: { file_path: file } }, moments: ["after the decision", "before stat", "before readFile"] },
  {
    call: { tool: "Write", input: { file_path: file, content: "new\n" } },
    moments: ["after the decision", "before stat", "before readFile", "before writeFile"],
  },
  {
    call: { tool: "Edit", input: { file_path: file, old_string: "old line", new_string: "new line" } },
    moments: ["after the decision", "before stat", "before readFile", "before writeFile"],
  },
  {
    call: { tool: "Grep", input: { pattern: "secret", path: "deep/folder", output_mode: "content" } },
    moments: ["after the decision", "before stat", "before run"],
  },
  {
    call: { tool: "built-in Grep", input: { pattern: "secret", path: "deep/folder", output_mode: "content" } },
    moments: ["after the decision", "before readDirectory", "before readFile"],
  },
];

describe("a path that is swapped for a link to elsewhere while a tool is at work", () => {
  for (const { call, moments } of calls)
    for (const moment of moments)
      for (const [what, swap] of Object.entries(swaps))
        it(`${call.tool}: ${what}, ${moment}`, async () => {
          await race(moment, swap, call);
        });

  for (const tool of ["Glob", "built-in Glob"])
    it(`${tool}: the folder of the folder, with names that are only outside`, async () => {
      const swap: Swap = (scene) => {
        writeFileSync(join(scene.top, "only-outside.txt"), "");
        moveAway(scene, "deep");
        symlinkSync(scene.top, join(scene.project, "deep"));
      };
      const call = { tool, input: { pattern: "**/*.txt", path: "deep" } };
      const moment = tool === "Glob" ? "before run" : "before readDirectory";
      assert.doesNotMatch((await race(moment, swap, call)).told, /only-outside/);
    });
});

describe("a file that is not there yet", () => {
  const writeNew = (path: string): Call => ({ tool: "Write", input: { file_path: path, content: "new\n" } });

  for (const target of ["file.txt", "not-yet.txt"])
    it(`is not written through a link to ${target === "file.txt" ? "a file" : "nothing"} that was made in its place`, async () => {
      const swap: Swap = ({ project, outside }) => symlinkSync(join(outside, target), join(project, "deep/new.txt"));
      for (const moment of ["after the decision", "before stat", "before writeFile"] as const)
        assert.match((await race(moment, swap, writeNew("deep/new.txt"))).told, /link|permission was given/);
    });

  it("brings no folders to where a swapped one leads", async () => {
    const swap = replace("deep", ".");
    for (const moment of ["after the decision", "before stat", "before writeFile"] as const)
      assert.match((await race(moment, swap, writeNew("deep/a/b/new.txt"))).told, /link|permission was given/);
  });

  it("is not written behind a link that was made where its folder should be", async () => {
    const swap: Swap = ({ project, outside }) => symlinkSync(join(outside, "nowhere"), join(project, "deep/a"));
    for (const moment of ["after the decision", "before stat", "before writeFile"] as const)
      assert.match((await race(moment, swap, writeNew("deep/a/b/new.txt"))).told, /link|permission was given/);
  });

  it("is written where a link that leads to nothing yet leads", async () => {
    const scene = setUp();
    const stage = openStage(scene, () => {});
    try {
      symlinkSync("folder/later.txt", join(scene.project, "deep/dangling"));
      await stage.run(writeNew("deep/dangling"));
      assert.equal(readFileSync(join(scene.project, "deep/folder/later.txt"), "utf8"), "new\n");
    } finally {
      await stage.close();
      rmSync(scene.top, { recursive: true, force: true });
    }
  });
});

describe("a folder of the project that is renamed", () => {
  it("is left as it is, and its file is not written anew where it was: it is another one than was read", async () => {
    const { files, told } = await race("before writeFile", (scene) => moveAway(scene, "deep"), {
      tool: "Write",
      input: { file_path: file, content: "new\n" },
    });
    assert.deepEqual([files["moved/folder/file.txt"], files["project/deep/folder/file.txt"]], [original, undefined]);
    assert.match(told, /changed/);
  });

  it("into one with another file is not followed", async () => {
    const swap: Swap = (scene) => {
      renameSync(join(scene.project, "deep"), join(scene.project, "other"));
      symlinkSync("other", join(scene.project, "deep"));
    };
    const call = { tool: "Write", input: { file_path: file, content: "new\n" } };
    const { told, files } = await race("before writeFile", swap, call);
    assert.match(told, /link/);
    assert.equal(files["project/other/folder/file.txt"], original);
  });
});

describe("a folder that another process swaps all the time", () => {
  it("never leads a read or a write elsewhere", { timeout: 60_000 }, async () => {
    const scene = setUp();
    const stage = openStage(scene, () => {});
    const before = treeOf(scene.outside);
    const swapper = startSwapping(join(scene.project, "deep/folder"), join(scene.outside, "folder"));
    try {
      await once(swapper, "spawn");
      const told: string[] = [];
      for (let round = 0; round < 300; round++) {
        told.push(await stage.run({ tool: "Read", input: { file_path: file } }));
        told.push(await stage.run({ tool: "Write", input: { file_path: file, content: original } }));
        told.push(await stage.run({ tool: "Write", input: { file_path: `deep/folder/new-${round}.txt`, content: "new\n" } }));
      }
      assert.deepEqual(
        told.filter((text) => text.includes(secret)),
        [],
      );
      assert.deepEqual(treeOf(scene.outside), before);
      assert.equal(swapper.exitCode, null, "it was swapped to the end");
      assert.ok(
        told.some((text) => text.includes("old line")),
        "some reads hit the file",
      );
      assert.ok(
        told.some((text) => /link|permission was given|Not permitted/.test(text)),
        "some hit the link",
      );
    } finally {
      await stop(swapper);
      await stage.close();
      rmSync(scene.top, { recursive: true, force: true });
    }
  });
});

/** In turn the folder itself and a link are at the place, as fast as renames go. What was made there in between is put away. */
function startSwapping(place: string, target: string): ChildProcess {
  const script = `
    const { renameSync, symlinkSync } = require("node:fs");
    const [place, target] = process.argv.slice(1);
    symlinkSync(target, place + ".link");
    let made = 0;
    const put = (from) => {
      for (;;) {
        try { return renameSync(from, place); } catch { renameSync(place, place + ".made-" + made++); }
      }
    };
    for (;;) {
      renameSync(place, place + ".real");
      put(place + ".link");
      for (let spin = 0; spin < 20000; spin++);
      renameSync(place, place + ".link");
      put(place + ".real");
      for (let spin = 0; spin < 20000; spin++);
    }`;
  return spawn(process.execPath, ["-e", script, place, target], { stdio: ["ignore", "ignore", "inherit"] });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
