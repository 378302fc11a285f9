import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import type { LiveCall } from "../packages/runtime/src/engine/live-call.ts";
import type { CallDeps } from "../packages/runtime/src/engine/deps.ts";
import { RepeatedCalls } from "../packages/runtime/src/engine/repeated-calls.ts";
import { runToolCall } from "../packages/runtime/src/engine/tool-call.ts";
import { PermissionGate } from "../packages/runtime/src/permissions/gate.ts";
import { parseRule } from "../packages/runtime/src/permissions/rules.ts";
import { type JsonObject, textOf } from "../packages/runtime/src/protocol/content.ts";
import type { PermissionMode } from "../packages/runtime/src/protocol/permission.ts";
import { bashTool } from "../packages/runtime/src/tools/builtin/bash.ts";
import { createGlobTool } from "../packages/runtime/src/tools/builtin/glob.ts";
import { createGrepTool } from "../packages/runtime/src/tools/builtin/grep.ts";
import { createToolMemory, type Tool, type ToolContext } from "../packages/runtime/src/tools/tool.ts";
import { createRedactor } from "../packages/runtime/src/util/redact.ts";
import { createLocalWorkspace } from "../packages/runtime/src/workspace/local.ts";
import type { Workspace } from "../packages/runtime/src/workspace/workspace.ts";

/** `ripgrep`, or the search for machines without it: both must keep to the rules. */
const searches = [true, false] as const;

type Setup = {
  readonly deny?: readonly string[];
  readonly ask?: readonly string[];
  readonly allow?: readonly string[];
  readonly mode?: PermissionMode;
  /** What somebody says to every question; nobody is there when absent. */
  readonly answer?: "allow" | "deny";
  readonly directories?: readonly string[];
  readonly ripgrep: boolean;
};

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-search-rules-")));
const root = join(top, "home/project");
const home = join(top, "home");
const tree: Readonly<Record<string, string>> = {
  "project/open.txt": "needle in the open\n",
  "project/secrets.txt": "needle secret-one\n",
  "project/deep/secrets.txt": "needle secret-two\n",
  "project/private/inner/key.pem": "needle secret-three\n",
  "project/line\nbreak/secrets.txt": "needle secret-four\n",
  ".ssh/id_rsa": "needle secret-five\n",
  "other/notes.txt": "needle elsewhere\n",
  "other/.aws/credentials": "needle secret-six\n",
};
for (const [path, content] of Object.entries(tree)) {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), content);
}
symlinkSync("secrets.txt", join(root, "link.txt"));
symlinkSync("private", join(root, "linked"));
const workspace = createLocalWorkspace({ root, env: { PATH: process.env["PATH"] ?? "" }, overflowDirectory: join(top, "long") });
after(async () => {
  await workspace.close();
  rmSync(top, { recursive: true, force: true });
});

describe("searching a folder in which rules protect files", () => {
  const left = (count: number): string =>
    count === 1 ? "[1 file was left out: rules protect it.]" : `[${count} files were left out: rules protect them.]`;

  for (const ripgrep of searches) {
    const by = ripgrep ? "with ripgrep" : "without ripgrep";
    const deny = ["Read(/secrets.txt)", "Read(**/deep/*)", "Read(./private/**)", "Read(./line*/**)"];

    it(`shows no line, no count and no name of a file that may not be read, ${by}`, async () => {
      const answers = {
        content: await say("Grep", { pattern: "needle", output_mode: "content" }, { deny, ripgrep }),
        names: await say("Grep", { pattern: "needle" }, { deny, ripgrep }),
        counts: await say("Grep", { pattern: "needle", output_mode: "count" }, { deny, ripgrep }),
        glob: await say("Glob", { pattern: "**/*" }, { deny, ripgrep }),
      };
      assert.deepEqual(answers, {
        content: `open.txt:1:needle in the open\n${left(4)}`,
        names: `open.txt\n${left(4)}`,
        counts: `open.txt:1\n[1 in 1 file.]\n${left(4)}`,
        glob: `open.txt\n${left(3)}`, // to a glob, a name with a line break is no name
      });
    });

    it(`says nothing that depends on what is in a protected file, ${by}`, async () => {
      const asked = async (pattern: string): Promise<string[]> => [
        await say("Grep", { pattern, glob: "secrets.txt" }, { deny, ripgrep }),
        await say("Grep", { pattern, output_mode: "content", "-C": 5, multiline: true }, { deny, ripgrep }),
        await say("Grep", { pattern, output_mode: "count", path: "deep" }, { deny: ["Grep(./deep/*.txt)"], ripgrep }),
      ];
      const nothing = [`No matches found.\n${left(3)}`, `No matches found.\n${left(4)}`, `No matches found.\n${left(1)}`];
      assert.deepEqual([await asked("secret-(?:one|two)"), await asked("not there at all")], [nothing, nothing]);
    });

    it(`counts the lines that it shows, not those that it leaves out, ${by}`, async () => {
      const input = { pattern: "needle", output_mode: "content", head_limit: 1 };
      assert.equal(await say("Grep", input, { deny, ripgrep }), `open.txt:1:needle in the open\n${left(4)}`);
    });

    it(`leaves out a protected folder with all that is in it, as it refuses to search there, ${by}`, async () => {
      const setup: Setup = { deny: ["Read(./private)"], ripgrep };
      assert.match(await say("Grep", { pattern: "needle", path: "private" }, setup), /The rule Read\(\.\/private\) forbids it/);
      assert.match(await say("Glob", { pattern: "linked/**" }, setup), /The rule Read\(\.\/private\) forbids it/);
      assert.equal(await say("Grep", { pattern: "secret-three" }, setup), `No matches found.\n${left(1)}`);
    });

    it(`takes other spellings of a name for the same file, ${by}`, async () => {
      const setup: Setup = { deny: ["Read(/SECRETS.TXT)"], ripgrep };
      assert.equal(await say("Grep", { pattern: "secret-one" }, setup), `No matches found.\n${left(1)}`);
      assert.equal(
        await say("Glob", { pattern: "secrets.txt" }, setup),
        `No files match secrets.txt in the working directory. Did you mean deep/secrets.txt or line\nbreak/secrets.txt?\n${left(1)}`,
      );
    });

    it(`obeys rules for one tool in that tool only, ${by}`, async () => {
      const setup: Setup = { deny: ["Grep(/secrets.txt)", "Edit(./open.txt)"], ripgrep };
      assert.equal(await say("Grep", { pattern: "secret-one|open" }, setup), `open.txt\n${left(1)}`);
      assert.equal(await say("Glob", { pattern: "secrets.txt" }, setup), "secrets.txt");
    });

    it(`leaves out what a rule wants to be asked about, unless just that was asked and answered, ${by}`, async () => {
      const setup: Setup = { ask: ["Read(./private/**)"], answer: "allow", ripgrep };
      assert.equal(await say("Grep", { pattern: "secret-three" }, setup), `No matches found.\n${left(1)}`);
      assert.equal(await say("Grep", { pattern: "secret-three", path: "private" }, setup), "private/inner/key.pem");
      assert.match(
        await say("Grep", { pattern: "x", path: "private" }, { ...setup, answer: "deny" }),
        /^(?:Not permitted|The user)/,
      );
    });

    it(`leaves rules out of it where they protect nothing, ${by}`, async () => {
      const input = { pattern: "secret-one", path: "." };
      assert.equal(await say("Grep", input, { deny: ["Read(./nowhere/**)"], ripgrep }), "secrets.txt");
      assert.equal(await say("Grep", input, { ripgrep }), "secrets.txt");
    });

    it(`keeps to deny rules also where permissions are bypassed, ${by}`, async () => {
      const setup: Setup = { deny: ["Read(/secrets.txt)"], mode: "bypassPermissions", ripgrep };
      assert.equal(await say("Grep", { pattern: "secret-one" }, setup), `No matches found.\n${left(1)}`);
    });

    it(`leaves out credentials outside the project, unless a rule or a yes is for them, ${by}`, async () => {
      const input = { pattern: "secret-(five|six)", path: home };
      const other = { pattern: "secret-six", path: join(home, "other") };
      const answers = [
        await say("Grep", input, { answer: "allow", ripgrep }),
        await say("Grep", other, { directories: [join(home, "other")], ripgrep }),
        await say("Grep", other, { directories: [join(home, "other")], allow: ["Read(~/other/.aws/**)"], ripgrep }),
        await say("Grep", { ...input, path: join(home, ".ssh") }, { answer: "allow", ripgrep }),
        await say("Grep", other, { mode: "bypassPermissions", ripgrep }),
      ];
      const aws = join(home, "other/.aws/credentials");
      assert.deepEqual(answers, [
        `No matches found.\n${left(2)}`,
        `No matches found.\n${left(1)}`,
        aws,
        join(home, ".ssh/id_rsa"),
        aws,
      ]);
    });
  }

  it("reads no protected file through a link that took the place of another file during the search", async () => {
    writeFileSync(join(root, "swapped.txt"), "needle before\n");
    const resolve: Workspace["resolve"] = async (path) => {
      if (path.endsWith("swapped.txt")) {
        symlinkSync("secrets.txt", join(root, "swap.new"));
        renameSync(join(root, "swap.new"), join(root, "swapped.txt"));
      }
      return await workspace.resolve(path);
    };
    const racing = new Proxy(workspace, {
      get: (target, name): unknown => (name === "resolve" ? resolve : Reflect.get(target, name, target)),
    });
    try {
      const said = await say("Grep", { pattern: "secret-one" }, { deny: ["Read(/secrets.txt)"], ripgrep: false }, racing);
      assert.equal(said, `No matches found.\n${left(1)}`);
    } finally {
      rmSync(join(root, "swapped.txt"), { force: true });
    }
  });

  it("lets no command search such a folder unasked", async () => {
    const setup: Setup = { deny: ["Read(/secrets.txt)"], ripgrep: false };
    assert.match(
      await say("Bash", { command: "grep -r needle ." }, setup),
      /Not permitted: .*Read\(\/secrets\.txt\) protects files/,
    );
    assert.match(await say("Bash", { command: "grep needle open.txt" }, setup), /needle in the open/);
  });

  it("gives tools no question to ask where no rule can matter", async () => {
    const given: (boolean | undefined)[] = [];
    const probe: Tool = {
      ...createGrepTool(),
      execute: async (_, { mayRead }: ToolContext) => {
        given.push(mayRead?.(join(root, "secrets.txt")));
        return { content: [] };
      },
    };
    const input = { pattern: "x" };
    for (const deny of [[], ["Bash(rm:*)", "Edit(/secrets.txt)", "WebFetch"], ["Read(/secrets.txt)"]])
      await runToolCall(depsFor({ deny, ripgrep: false }, workspace, [probe]), toCall("Grep", input));
    assert.deepEqual(given, [undefined, undefined, false]);
  });
});

async function say(name: string, input: JsonObject, setup: Setup, machine: Workspace = workspace): Promise<string> {
  const tools = [createGrepTool({ ripgrep: setup.ripgrep }), createGlobTool({ ripgrep: setup.ripgrep }), bashTool];
  const result = await runToolCall(depsFor(setup, machine, tools), toCall(name, input));
  return textOf(result.content);
}

/** As if a model had just made it. */
function toCall(name: string, input: JsonObject): LiveCall {
  return { type: "tool-call", callId: "c", name, input } as LiveCall;
}

function depsFor(setup: Setup, machine: Workspace, tools: readonly Tool[]): CallDeps {
  const rules = (texts: readonly string[] = []) => texts.map((text) => parseRule(text, "settings.json"));
  const gate = new PermissionGate();
  return {
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    workspace: machine,
    memory: createToolMemory(),
    policy: () => ({
      mode: setup.mode ?? "default",
      allow: rules(setup.allow),
      ask: rules(setup.ask),
      deny: rules(setup.deny),
      base: { root, home, platform: "linux" },
      directories: setup.directories ?? [],
      readable: [],
    }),
    gate,
    answerable: setup.answer !== undefined,
    outputLimit: 100_000,
    redactor: createRedactor(),
    emit(event) {
      if (event.type === "permission.requested" && setup.answer) gate.answer(event.requestId, { decision: setup.answer });
    },
    flush: async () => {},
    signal: new AbortController().signal,
    newId: () => "r1",
    clock: () => 0,
    halt: () => {},
    halted: () => undefined,
    repeats: new RepeatedCalls({ noteAt: 3, stopAt: 6 }),
  };
}
