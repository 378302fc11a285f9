import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { PermissionMode } from "../packages/runtime/src/protocol/permission.ts";
import type { Policy } from "../packages/runtime/src/permissions/policy.ts";
import type { ProgramFinder } from "../packages/runtime/src/permissions/program-finder.ts";
import { createGround, toRules } from "./support/command-ground.ts";
import { itHolds } from "./support/it-holds.ts";

type Case = { readonly mode: PermissionMode; readonly want: "allow" | "ask" | "deny"; readonly command: string };

const file = join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "test/fixtures/looking-commands.jsonl");
const cases = readFileSync(file, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Case); // our own file
const ground = createGround();
const hostile = createGround({ hostile: true });
after(() => {
  for (const one of [ground, hostile]) one.remove();
});
/** Everyday programs, wherever the test runs. */
const programs: ProgramFinder = { place: async () => "other", isShadowed: async () => false };

/** They only look, and are asked about all the same. */
const needlesslyAsked = [
  'for f in src/*.ts; do [ -f "test/$(basename $f)" ] || echo "no test: $f"; done',
  "git grep -l foo | xargs wc -l",
  "pushd src && ls && popd",
  'BRANCH=$(git branch --show-current); git log "$BRANCH" --oneline -3',
  'ROOT=$(git rev-parse --show-toplevel); ls "$ROOT"',
];

async function other({ command, mode, want }: Case): Promise<string | undefined> {
  const { effect, reason } = await ground.judge(command, { mode, programs });
  return effect === want ? undefined : `${command}: ${effect}, ${reason}`;
}

async function effectsOf(commands: readonly string[], given: Partial<Policy>, where = ground): Promise<string[]> {
  return Promise.all(commands.map(async (command) => (await where.judge(command, { programs, ...given })).effect));
}

describe("read-only commands of real models", () => {
  const looking = cases.filter(({ want }) => want === "allow");
  itHolds(
    "run unasked",
    looking.filter(({ command }) => !needlesslyAsked.includes(command)),
    other,
  );
  itHolds(
    "are told from those that do more",
    cases.filter((one) => !looking.includes(one)),
    other,
  );

  it("are tried on many cases", () => {
    assert.ok(looking.length >= 400, `${looking.length}`);
    assert.ok(needlesslyAsked.length <= looking.length * 0.02);
  });

  it("are not asked about for a link whose name the search does not fit", async () => {
    const commands = [
      "find . -name '*.md' -exec grep x {} +",
      "find src -name 'b.ts' | xargs wc -l",
      "find docs -iname '*.MD' | while read -r f; do head -1 \"$f\"; done",
    ];
    assert.deepEqual(await effectsOf(commands, {}, hostile), ["allow", "allow", "allow"]);
  });

  it("follow what a rule lets the project's own code do, and change nothing behind it", async () => {
    const given = { mode: "acceptEdits", allow: toRules(["Bash(npm run build:*)", "Bash(ln:*)"]) } as const;
    const after = ["cat dist/x", "wc -l < dist/x", "git status", "echo x > dist/y", "cat ../outside/secret.txt", "env"];
    const effects = await effectsOf(
      after.map((command) => `npm run build && ${command}`),
      given,
    );
    assert.deepEqual(effects, ["allow", "allow", "allow", "ask", "ask", "ask"]);
    assert.deepEqual(await effectsOf(["ln -s a dist && cat dist/x"], given), ["ask"]);
  });

  it("are asked about where a file of the project tells the program what to do", async () => {
    const obeying = [
      "npm ls",
      "npm --version",
      "cd src && npm root",
      "bun --version",
      "rust-gdb --version",
      "rls --help",
      "shellcheck a.sh",
    ];
    assert.deepEqual(
      await effectsOf(obeying, {}, hostile),
      obeying.map(() => "ask"),
    );
    assert.deepEqual(
      await effectsOf(obeying, {}),
      obeying.map(() => "allow"),
    );
    assert.deepEqual(
      await effectsOf(obeying, { listFolder: undefined }),
      obeying.map(() => "ask"),
    );
  });

  it("are asked about where a version manager may start another program for the project", async () => {
    const shims: ProgramFinder = {
      ...programs,
      found: async (name) => ({ file: `/home/me/.pyenv/shims/${name}`, real: `/home/me/.pyenv/shims/${name}` }),
    };
    const managed = ["python3 --version", "jq . a.json", "cat a | rg x", "node --check x.ts"];
    const given = { programs: shims, listFolder: async () => [{ name: ".python-version", kind: "file" as const }] };
    assert.deepEqual(
      await effectsOf(managed, given),
      managed.map(() => "ask"),
    );
    const effects = await effectsOf([...managed, "touch .python-version && python3 --version"], {
      programs: shims,
      mode: "acceptEdits",
    });
    assert.deepEqual(effects, ["allow", "allow", "allow", "allow", "ask"]);
    const asdf: ProgramFinder = {
      ...programs,
      found: async (name) => ({ file: `/opt/shims/${name}`, real: `/opt/shims/${name}` }),
    };
    assert.deepEqual(await effectsOf(["jq . a.json", "echo x", "/usr/bin/jq . a.json"], { programs: asdf }), [
      ...["ask", "allow", "allow"],
    ]);
  });

  it("are asked about where a module of Go wants another go", async () => {
    const go = ["go version", "go env GOPATH", "cd src && go version"];
    const judged = (text: string | undefined) =>
      effectsOf(go, {
        programs: { ...programs, found: async () => ({ file: "/usr/bin/go", real: "/usr/lib/go/bin/go" }) },
        readText: async (file) =>
          file === "/usr/lib/go/VERSION" ? "go1.22.3\n" : file === join(ground.root, "go.mod") ? text : "",
        listFolder: async (folder) => [{ name: folder === ground.root ? "go.mod" : "x", kind: "file" as const }],
      });
    assert.deepEqual(await judged("module x\n\ngo 1.22\n"), ["allow", "allow", "allow"]);
    assert.deepEqual(await judged("module x\n\ngo 1.22\n\ntoolchain go1.99.0\n"), ["ask", "ask", "ask"]);
    assert.deepEqual(await judged(undefined), ["ask", "ask", "ask"]);
  });

  it("are asked about where what they start may be a program of the project", async () => {
    const inProject: ProgramFinder = { place: async () => "other", isShadowed: async (_, changed) => changed };
    const starting = ["tar tzf a.tgz", "zcat a.gz", "man ls", "npm ls", "pip list", "yq .a data.yaml"];
    assert.deepEqual(
      await effectsOf(starting, { programs: inProject }),
      starting.map(() => "ask"),
    );
  });
});
