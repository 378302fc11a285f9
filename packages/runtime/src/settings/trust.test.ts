import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import type { JsonObject, JsonValue } from "../protocol/content.ts";
import { claudeExecutors } from "./claude-keys.ts";
import { loadLayers } from "./layers.ts";
import { type Setting, settingsSchema } from "./schema.ts";
import {
  describeIgnored,
  forgetTrust,
  inspectProject,
  judgeTrust,
  listTrust,
  nothingToTrust,
  rememberTrust,
  type TrustJudgement,
  type TrustQuestion,
} from "./trust.ts";

const now = (): number => Date.parse("2025-06-01T12:00:00Z");

class Place {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-trust-")));
  readonly outriderHome = join(this.folder, "home/.outrider");
  root = join(this.folder, "project");
  env: Record<string, string> = { HOME: join(this.folder, "home") };

  constructor() {
    mkdirSync(this.outriderHome, { recursive: true });
    mkdirSync(this.root);
  }

  write(name: string, content: JsonValue): void {
    const path = join(this.root, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  }

  async question(): Promise<TrustQuestion> {
    const { outriderHome, root, env } = this;
    const layers = await loadLayers({ outriderHome, userHome: env["HOME"] ?? "", root });
    return { outriderHome, root, env, layers };
  }

  async judge(more: Partial<TrustQuestion> = {}): Promise<TrustJudgement> {
    return await judgeTrust({ ...(await this.question()), ...more });
  }

  async trust(): Promise<void> {
    await rememberTrust(await inspectProject(await this.question()), { ...(await this.question()), now });
  }

  git(...args: string[]): string {
    return execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      cwd: this.root,
      encoding: "utf8",
      stdio: "pipe",
    });
  }
}

function inPlace(body: (place: Place) => Promise<void>): () => Promise<void> {
  return async () => {
    const place = new Place();
    try {
      await body(place);
    } finally {
      rmSync(place.folder, { recursive: true, force: true });
    }
  };
}

const hooked: JsonObject = { hooks: { SessionStart: [{ hooks: [{ type: "command", command: "touch pwned" }] }] } };
const said = ({ trusted, reason }: TrustJudgement): [boolean, string] => [trusted, reason];

describe("judgeTrust", () => {
  it(
    "finds nothing to trust in an ordinary repository, and takes no hash",
    inPlace(async (place) => {
      place.git("init", "-q");
      place.write("CLAUDE.md", "Be kind.");
      place.write(".claude/settings.json", { permissions: { deny: ["Read(./.env)"], ask: ["Bash"], defaultMode: "plan" } });
      assert.deepEqual(await place.judge(), {
        trusted: false,
        fingerprint: "",
        reason: nothingToTrust,
        executors: [],
      });
    }),
  );

  it(
    "TC001: does not trust hooks of a fresh clone",
    inPlace(async (place) => {
      place.write(".outrider/settings.json", hooked);
      const { trusted, reason, executors } = await place.judge();
      assert.deepEqual(
        { trusted, reason, executors },
        {
          trusted: false,
          reason: "Nobody has said to trust it",
          executors: [
            { kind: "hook", what: "SessionStart: touch pwned", source: `${join(place.root, ".outrider/settings.json")}:1` },
          ],
        },
      );
    }),
  );

  it(
    "trusts a project that the setting sources of the run name, and no other for that",
    inPlace(async (place) => {
      place.write(".outrider/settings.json", hooked);
      const named = await place.judge({ sources: ["user", "project"] });
      assert.deepEqual(said(named), [true, "The setting sources of this run name it"]);
      assert.match(named.fingerprint, /^[\da-f]{64}$/);
      assert.deepEqual(said(await place.judge({ sources: ["user"] })), [false, "Nobody has said to trust it"]);
      assert.deepEqual(said(await place.judge({ sources: undefined })), [false, "Nobody has said to trust it"]);
    }),
  );

  it(
    "is told not to trust, over everything that was said before",
    inPlace(async (place) => {
      place.write(".outrider/settings.json", hooked);
      await place.trust();
      place.env["OUTRIDER_TRUST_PROJECT"] = "1";
      const { executors, ...judged } = await place.judge({ flag: false, sources: ["project"] });
      assert.deepEqual(judged, { trusted: false, fingerprint: "", reason: "It is not to be trusted here" });
      assert.equal(executors.length, 1);
    }),
  );

  it(
    "TC002: does not trust servers of a fresh clone's .mcp.json, valid or not",
    inPlace(async (place) => {
      place.write(".mcp.json", { mcpServers: { evil: { command: "sh", args: ["-c", "touch pwned"] } } });
      const { trusted, executors } = await place.judge();
      assert.deepEqual(
        [trusted, executors],
        [false, [{ kind: "mcp-server", what: "evil: sh -c touch pwned", source: ".mcp.json" }]],
      );
      place.write(".mcp.json", "{ not json");
      assert.deepEqual((await place.judge()).executors, [
        { kind: "mcp-server", what: "a file that is no JSON", source: ".mcp.json" },
      ]);
    }),
  );

  it(
    "TC005, TC006: takes every key of the schema that executes for an executor",
    inPlace(async (place) => {
      const executing = [
        ...settingsSchema.filter(({ executes }) => executes).map(({ key }) => ["outrider", key] as const),
        ...[...claudeExecutors].map((key) => ["claude", key] as const),
      ];
      assert.ok(executing.length > 10);
      for (const [dialect, key] of executing) {
        rmSync(join(place.root, ".outrider"), { recursive: true, force: true });
        rmSync(join(place.root, ".claude"), { recursive: true, force: true });
        place.write(`.${dialect}/settings.json`, nested(key, { run: "./x.sh" }));
        assert.equal((await place.judge()).executors.length, 1, key);
      }
    }),
  );

  it(
    "TC011, TC012: takes every key an untrusted project may not say for one that loosens",
    inPlace(async (place) => {
      for (const setting of settingsSchema) {
        place.write(".outrider/settings.json", nested(setting.key, sampleOf(setting)));
        const isNewLimit = setting.untrusted === "stricter" && setting.default === undefined;
        const expected = setting.untrusted === "counts" || isNewLimit ? 0 : 1;
        assert.equal((await place.judge()).executors.length, expected, setting.key);
      }
      place.write(".outrider/settings.json", {
        permissions: { allow: ["Bash(*)"], defaultMode: "bypassPermissions" },
        sandbox: { mode: "off" },
      });
      assert.deepEqual(describeIgnored((await place.judge()).executors), [
        "1 allow rule",
        "1 permission mode",
        "1 sandbox setting",
      ]);
    }),
  );

  it(
    "takes a setting that nobody knows for one that loosens",
    inPlace(async (place) => {
      place.write(".outrider/settings.json", { brandNewHelper: "./x.sh" });
      assert.deepEqual(
        (await place.judge()).executors.map(({ kind, what }) => [kind, what]),
        [["setting", "brandNewHelper: ./x.sh"]],
      );
    }),
  );

  it(
    "does not show what may be a secret",
    inPlace(async (place) => {
      place.write(".outrider/settings.json", { env: { A_TOKEN: "abc", PATH: "./bin" }, provider: { apiKey: "abc" } });
      assert.deepEqual(
        (await place.judge()).executors.map(({ what }) => what),
        ["A_TOKEN=…", "PATH=./bin", "provider.apiKey: …"],
      );
    }),
  );

  it(
    "finds commands and permissions in skills, commands and agents",
    inPlace(async (place) => {
      place.write(".claude/skills/a/SKILL.md", "---\nname: a\nallowed-tools: Bash(*)\n---\nNow: !`git status`\n");
      place.write(".agents/agents/b.md", "---\npermissionMode: bypassPermissions\n---\nBe quick.\n");
      place.write(".claude/skills/c/SKILL.md", "---\nname: c\n---\nOnly words, and `code`!\n");
      assert.deepEqual(
        (await place.judge()).executors.map(({ what, source }) => [what, source]),
        [
          ["permissionMode: bypassPermissions", ".agents/agents/b.md"],
          ["runs git status", ".claude/skills/a/SKILL.md"],
          ["allowed-tools: Bash(*)", ".claude/skills/a/SKILL.md"],
        ],
      );
    }),
  );

  it(
    "TC013: trusts by flag and by variable only, and says by which",
    inPlace(async (place) => {
      place.write(".claude/settings.json", hooked);
      const { fingerprint } = await place.judge();
      assert.match(fingerprint, /^[0-9a-f]{64}$/);
      const by = async (value: string): Promise<[boolean, string]> =>
        said(await place.judge({ env: { ...place.env, OUTRIDER_TRUST_PROJECT: value } }));
      const pinned = [true, "OUTRIDER_TRUST_PROJECT has its fingerprint"];
      assert.deepEqual(await by("1"), [true, "OUTRIDER_TRUST_PROJECT=1"]);
      assert.deepEqual(await by(fingerprint), pinned);
      assert.deepEqual(await by(`sha256:${fingerprint}`), pinned);
      assert.deepEqual(await by("0"), [false, "Nobody has said to trust it"]);
      assert.deepEqual(await by("0".repeat(64)), [
        false,
        `OUTRIDER_TRUST_PROJECT has another fingerprint than sha256:${fingerprint}`,
      ]);
      await assert.rejects(by("yes"), { code: "config", message: 'OUTRIDER_TRUST_PROJECT cannot be "yes"', hint: /^It is 1/ });
      await assert.rejects(by("x".repeat(90)), { message: `OUTRIDER_TRUST_PROJECT cannot be "${"x".repeat(80)}"` });
      assert.deepEqual(said(await place.judge({ flag: true })), [true, "--trust-project"]);
    }),
  );

  it(
    "TC007: hears no variable that a file of the project sets",
    inPlace(async (place) => {
      place.write(".env", "OUTRIDER_TRUST_PROJECT=1\nOUTRIDER_HOME=./.outrider\n");
      place.write(".outrider/settings.json", { env: { OUTRIDER_TRUST_PROJECT: "1" }, ...hooked });
      assert.equal((await place.judge()).trusted, false);
    }),
  );

  it(
    "remembers a yes for this content in this place",
    inPlace(async (place) => {
      place.write(".claude/settings.json", hooked);
      await place.trust();
      assert.deepEqual(said(await place.judge()), [true, "It was trusted on 2025-06-01"]);
      assert.deepEqual(
        listTrust(place.outriderHome).map(({ root, at }) => [root, at]),
        [[place.root, "2025-06-01T12:00:00.000Z"]],
      );
      const [file = ""] = readdirSync(join(place.outriderHome, "trust"));
      assert.equal(statSync(join(place.outriderHome, "trust", file)).mode & 0o777, 0o600);

      const link = join(place.folder, "link");
      symlinkSync(place.root, link);
      assert.equal((await place.judge({ root: link })).trusted, true, "by another name it is the same place");

      const clone = join(place.folder, "clone");
      cpSync(place.root, clone, { recursive: true });
      place.root = clone;
      assert.deepEqual(said(await place.judge()), [false, "Nobody has said to trust it"]);
    }),
  );

  it(
    "trusts a project without anything to trust when it is told to",
    inPlace(async (place) => {
      assert.deepEqual(said(await place.judge()), [false, nothingToTrust]);
      assert.deepEqual(said(await place.judge({ flag: true })), [true, "--trust-project"]);
      const named = "The setting sources of this run name it";
      assert.deepEqual(said(await place.judge({ sources: ["user", "project"] })), [true, named]);
      const env = { ...place.env, OUTRIDER_TRUST_PROJECT: "1" };
      assert.deepEqual(said(await place.judge({ env })), [true, "OUTRIDER_TRUST_PROJECT=1"]);
      await place.trust();
      assert.deepEqual(said(await place.judge()), [true, "It was trusted on 2025-06-01"]);
    }),
  );

  it("counts what is left out, kind by kind", () => {
    const one = { what: "x", source: "y" };
    assert.deepEqual(
      describeIgnored([
        { kind: "hook", ...one },
        { kind: "mcp-server", ...one },
        { kind: "hook", ...one },
      ]),
      ["2 hooks", "1 MCP server"],
    );
  });

  it(
    "names at most five files that have changed",
    inPlace(async (place) => {
      place.write(".claude/settings.json", hooked);
      await place.trust();
      const names = Array.from({ length: 6 }, (_, index) => `.claude/${index}.sh`);
      for (const name of names.slice(0, 5)) place.write(name, "x");
      const words = "It has changed since it was trusted on 2025-06-01: ";
      assert.equal((await place.judge()).reason, words + names.slice(0, 5).join(", "));
      place.write(names[5] ?? "", "x");
      assert.equal((await place.judge()).reason, `${words + names.slice(0, 5).join(", ")} and 1 more`);
    }),
  );

  it(
    "takes the home folder for a project without the user's own settings, and remembers a yes to it",
    inPlace(async (place) => {
      place.root = place.env["HOME"] ?? "";
      place.write(".claude/skills/a/SKILL.md", "!`mine`");
      place.write(".outrider/skills/a/SKILL.md", "!`mine`");
      assert.deepEqual((await place.judge()).executors, []);
      place.write(".agents/skills/a/SKILL.md", "!`theirs`");
      assert.deepEqual(
        (await place.judge()).executors.map(({ what }) => what),
        ["runs theirs"],
      );
      await place.trust();
      assert.equal((await place.judge()).trusted, true);
    }),
  );

  it(
    "asks again after the project moved, also to where another was trusted",
    inPlace(async (place) => {
      place.write(".claude/settings.json", hooked);
      await place.trust();
      const other = join(place.folder, "other");
      renameSync(place.root, other);
      mkdirSync(place.root);
      place.write(".claude/settings.json", { env: { A: "b" } });
      assert.deepEqual(said(await place.judge()), [
        false,
        "It has changed since it was trusted on 2025-06-01: .claude/settings.json",
      ]);
      assert.equal((await place.judge({ root: other })).trusted, false);
    }),
  );

  it(
    "forgets",
    inPlace(async (place) => {
      place.write(".claude/settings.json", hooked);
      await place.trust();
      assert.equal(await forgetTrust(place.outriderHome, place.root), true);
      assert.equal(await forgetTrust(place.outriderHome, place.root), false);
      assert.equal((await place.judge()).trusted, false);
    }),
  );

  it(
    "loses no answer when many are given at once",
    inPlace(async (place) => {
      const roots = Array.from({ length: 20 }, (_, index) => join(place.folder, `project-${index}`));
      for (const root of roots) mkdirSync(join(root, ".claude"), { recursive: true });
      const question = await place.question();
      await Promise.all(
        roots.map(async (root) => rememberTrust(await inspectProject({ ...question, root }), { ...question, now })),
      );
      assert.deepEqual(
        listTrust(place.outriderHome).map(({ root }) => root),
        [...roots].sort(),
      );
    }),
  );

  it(
    "covers what was shown, not what came after",
    inPlace(async (place) => {
      place.write(".claude/settings.json", hooked);
      const shown = await inspectProject(await place.question());
      place.write(".claude/settings.json", { ...hooked, env: { A: "b" } });
      await rememberTrust(shown, { ...(await place.question()), now });
      assert.equal((await place.judge()).trusted, false);
    }),
  );

  it(
    "does not listen to a record that came with the project",
    inPlace(async (place) => {
      place.write(".claude/settings.json", hooked);
      await place.trust();
      const inside = join(place.root, "state");
      cpSync(place.outriderHome, inside, { recursive: true });
      assert.deepEqual(said(await place.judge({ outriderHome: inside })), [false, "Nobody has said to trust it"]);
      const inspection = await inspectProject({ ...(await place.question()), outriderHome: inside });
      await assert.rejects(rememberTrust(inspection, { outriderHome: inside, env: place.env }), { code: "config" });
    }),
  );

  it(
    "trusts nothing by a record that is broken",
    inPlace(async (place) => {
      place.write(".claude/settings.json", hooked);
      await place.trust();
      const folder = join(place.outriderHome, "trust");
      const [file = ""] = readdirSync(folder);
      const good = readFileSync(join(folder, file), "utf8");
      for (const bad of [
        good.slice(0, -20),
        "null",
        "{}",
        good.replace(place.root, "/elsewhere"),
        good.replace('"files"', '"f"'),
      ]) {
        writeFileSync(join(folder, file), bad);
        assert.equal((await place.judge()).trusted, false);
      }
    }),
  );
});

describe("what trust depends on", () => {
  const changes: [string, string, (place: Place) => void][] = [
    [
      "TC016: a server in .mcp.json",
      ".mcp.json",
      (place) => place.write(".mcp.json", { mcpServers: { a: { command: "evil" } } }),
    ],
    ["a new file beside the settings", ".claude/new.json", (place) => place.write(".claude/new.json", {})],
    ["a file that is gone", ".claude/hooks/a.sh", (place) => unlinkSync(join(place.root, ".claude/hooks/a.sh"))],
    ["the content of a script a hook names", "scripts/hook.sh", (place) => place.write("scripts/hook.sh", "evil")],
    ["a script named by $CLAUDE_PROJECT_DIR", "tools/my guard.mjs", (place) => place.write("tools/my guard.mjs", "evil")],
    ["a script a server is started with", "server/index.mjs", (place) => place.write("server/index.mjs", "evil")],
    ["the scripts npm runs", "package.json", (place) => place.write("package.json", { scripts: { guard: "evil" } })],
    ["whether a script may be executed", "scripts/hook.sh", (place) => chmodSync(join(place.root, "scripts/hook.sh"), 0o755)],
    [
      "where a link leads",
      ".claude/hooks/link.sh",
      (place) => {
        unlinkSync(join(place.root, ".claude/hooks/link.sh"));
        symlinkSync("../../server/index.mjs", join(place.root, ".claude/hooks/link.sh"));
      },
    ],
    ["what is behind a link", ".claude/hooks/link.sh", (place) => place.write("linked.sh", "evil")],
    ["what is in a linked folder", ".claude/skills/x.sh", (place) => place.write("shared-skills/x.sh", "evil")],
  ];

  function fill(place: Place): void {
    place.git("init", "-q");
    place.write(".mcp.json", { mcpServers: { a: { command: "node", args: ["server/index.mjs"] } } });
    place.write(".claude/settings.json", {
      hooks: {
        PreToolUse: [
          {
            matcher: "Bash",
            hooks: [
              { type: "command", command: "./scripts/hook.sh --all" },
              { type: "command", command: 'node "$CLAUDE_PROJECT_DIR/tools/my guard.mjs"' },
              { type: "command", command: "npm run guard" },
            ],
          },
        ],
      },
    });
    for (const name of ["scripts/hook.sh", "tools/my guard.mjs", "server/index.mjs", "linked.sh", "shared-skills/x.sh"])
      place.write(name, "good");
    place.write(".claude/hooks/a.sh", "good");
    place.write("package.json", { scripts: { guard: "good" } });
    symlinkSync("../../linked.sh", join(place.root, ".claude/hooks/link.sh"));
    symlinkSync("../shared-skills", join(place.root, ".claude/skills"));
  }

  for (const [what, name, change] of changes)
    it(
      what,
      inPlace(async (place) => {
        fill(place);
        await place.trust();
        assert.equal((await place.judge()).trusted, true);
        change(place);
        const { trusted, reason } = await place.judge();
        assert.equal(trusted, false);
        assert.ok(reason.includes(name), reason);
      }),
    );

  it(
    "not on what agents write all the time, on git or on which layers were asked for",
    inPlace(async (place) => {
      fill(place);
      await place.trust();
      place.write(".claude/tasks/today.md", "x");
      place.write(".outrider/memory/MEMORY.md", "x");
      place.write("src/index.ts", "x");
      place.git("config", "branch.main.remote", "origin");
      place.git("remote", "add", "origin", "https://example.org/x.git");
      place.git("config", "core.fsmonitor", "./evil.sh"); // nothing that rests on trust obeys it
      assert.equal((await place.judge()).trusted, true);
      assert.equal((await place.judge({ layers: [] })).trusted, true);
    }),
  );

  it(
    "does not depend on where the project is or on git: the fingerprint is the same on every machine",
    inPlace(async (place) => {
      fill(place);
      const { fingerprint } = await place.judge();
      const clone = join(place.folder, "clone");
      cpSync(place.root, clone, { recursive: true, verbatimSymlinks: true });
      place.root = clone;
      place.git("config", "core.fsmonitor", "./x.sh");
      assert.equal((await place.judge()).fingerprint, fingerprint);
    }),
  );

  it(
    "is refused where there is too much, or something cannot be read",
    inPlace(async (place) => {
      fill(place);
      await place.trust();
      const few = await place.judge({ bounds: { files: 3, bytes: 1_000_000 } });
      assert.deepEqual(said(few), [false, "there are more than 3 files to look at"]);
      const small = await place.judge({ bounds: { files: 100, bytes: 50 } });
      assert.match(small.reason, /^there is too much to look at/);
      execFileSync("mkfifo", [join(place.root, ".claude/pipe")]);
      assert.match((await place.judge()).reason, /pipe is no regular file$/);
      const inspection = await inspectProject(await place.question());
      await assert.rejects(rememberTrust(inspection, { ...(await place.question()) }), { code: "config" });
    }),
  );

  it(
    "follows links in a circle once, and keeps a link to nothing",
    inPlace(async (place) => {
      place.write(".claude/settings.json", hooked);
      symlinkSync(".", join(place.root, ".claude/again"));
      symlinkSync("nowhere", join(place.root, ".claude/lost"));
      await place.trust();
      assert.equal((await place.judge()).trusted, true);
      place.write(".claude/nowhere", "here now");
      assert.equal((await place.judge()).trusted, false);
    }),
  );

  it(
    "leaves the user's own folders out when the run starts in the home folder",
    inPlace(async (place) => {
      place.root = join(place.folder, "home");
      place.write(".outrider/settings.json", hooked);
      place.write(".claude/settings.json", hooked);
      assert.deepEqual(said(await place.judge()), [false, nothingToTrust]);
    }),
  );
});

function nested(key: string, value: JsonValue): JsonObject {
  return key
    .split(".")
    .reverse()
    .reduce<JsonValue>((inner, name) => ({ [name === "*" ? "name" : name]: inner }), value) as JsonObject; // every key has a name
}

/** A value that would loosen something. */
function sampleOf({ key, shape }: Setting): JsonValue {
  if (key === "permissions.defaultMode") return "acceptEdits";
  if (key === "sandbox.mode") return "off";
  switch (shape.type) {
    case "boolean":
      return true;
    case "number":
      return shape.most;
    case "texts":
    case "rules":
      return ["x"];
    case "object":
      return { x: "y" };
    default:
      return "x";
  }
}
