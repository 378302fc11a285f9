import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type PermissionMode, permissionModes } from "../protocol/permission.ts";
import { decide } from "./decide.ts";
import type { Decision, Policy } from "./policy.ts";
import { type Action, parseRule, type Rule } from "./rules.ts";

const root = "/repo/proj";
type Rules = { allow?: string[]; ask?: string[]; deny?: string[] };

async function effect(action: Action, mode: PermissionMode, rules: Rules = {}): Promise<string> {
  return (await full(action, mode, rules)).effect;
}

function full(action: Action, mode: PermissionMode, rules: Rules = {}): Promise<Decision> {
  const toRules = (texts: string[] | undefined) => (texts ?? []).map((text) => parseRule(text, "a test"));
  return decide(
    {
      mode,
      allow: toRules(rules.allow),
      ask: toRules(rules.ask),
      deny: toRules(rules.deny),
      base: { root, home: "/home/me" },
      readable: ["/spill"],
      inertGit: async () => "/inert",
    },
    [action],
  );
}

const run = (command: string): Action => ({ tool: "Bash", kind: "run", resource: command });
const read = (path: string): Action => ({ tool: "Read", kind: "look", resource: path });
const edit = (path: string): Action => ({ tool: "Write", kind: "edit", resource: path });
const fetchPage = (url: string): Action => ({ tool: "WebFetch", kind: "reach", resource: url });
const note: Action = { tool: "TodoWrite", kind: "note", resource: "" };

describe("a rule about a parameter", () => {
  const agent: Action = { tool: "Task", kind: "note", resource: "Explore", input: { model: "opus", run_in_background: true } };
  const server: Action = { tool: "mcp__db__query", kind: "reach", resource: "", input: { access: "write", rows: 10 } };

  it("forbids, or asks about, calls that have it with this value", async () => {
    assert.equal(await effect(agent, "bypassPermissions", { deny: ["Agent(model:opus)"] }), "deny");
    assert.equal(await effect(agent, "bypassPermissions", { deny: ["Agent(model:op*)"] }), "deny");
    assert.equal(await effect(agent, "bypassPermissions", { deny: ["Agent(run_in_background:true)"] }), "deny");
    assert.equal(await effect(agent, "default", { ask: ["Agent(model:opus)"] }), "ask");
    assert.equal(
      await effect({ ...run("ls"), input: { run_in_background: true } }, "default", { deny: ["Bash(run_in_background:true)"] }),
      "deny",
    );
    assert.equal(await effect(server, "bypassPermissions", { deny: ["mcp__db__*(access:write)"] }), "deny");
  });

  it("lets others be, and allows nothing", async () => {
    assert.equal(
      await effect(agent, "default", { deny: ["Agent(model:sonnet)", "Agent(other:opus)", "Skill(model:opus)"] }),
      "allow",
    );
    assert.equal(await effect(server, "bypassPermissions", { deny: ["mcp__db__*(access:read)"] }), "allow");
    assert.equal(await effect(server, "default", { allow: ["mcp__db__query(access:write)"] }), "ask");
    assert.equal(
      await effect({ ...run("ls"), input: { command: "ls", timeout: 5 } }, "default", { deny: ["Bash(timeout:*)"] }),
      "allow",
    );
  });
});

describe("a permission decision", () => {
  it("speaks of the network only where a call says which address it reaches", async () => {
    const server: Action = { tool: "mcp__files__list", kind: "reach", resource: "" };
    assert.match((await full(server, "default")).reason, /^Calling mcp__files__list /);
    assert.match((await full(fetchPage("https://example.org/"), "default")).reason, /^Reaching the network /);
  });

  it("follows the mode where no rule speaks", async () => {
    const actions: [string, Action][] = [
      ["note", note],
      ["read inside", read("/repo/proj/a")],
      ["read spilled output", read("/spill/x.txt")],
      ["read outside", read("/repo/proj-evil/x")],
      ["edit inside", edit("/repo/proj/a")],
      ["edit outside", edit("/srv/x")],
      ["look around", run("ls | wc -l")],
      ["run", run("npm test")],
      ["reach", fetchPage("https://example.org/")],
    ];
    const table: Record<string, string> = {};
    for (const [name, action] of actions)
      table[name] = (await Promise.all(permissionModes.map((mode) => effect(action, mode)))).join(" ");
    assert.deepEqual(table, {
      // plan default acceptEdits dontAsk sandboxed bypassPermissions
      note: "allow allow allow allow allow allow",
      "read inside": "allow allow allow allow allow allow",
      "read spilled output": "allow allow allow allow allow allow",
      "read outside": "ask ask ask deny ask allow",
      "edit inside": "deny ask allow deny allow allow",
      "edit outside": "deny ask ask deny ask allow",
      "look around": "allow allow allow allow allow allow",
      run: "deny ask ask deny ask allow",
      reach: "ask ask ask deny ask allow",
    });
  });

  it("lets a deny rule win over everything", async () => {
    assert.equal(await effect(run("rm -rf x"), "bypassPermissions", { allow: ["Bash"], deny: ["Bash(rm:*)"] }), "deny");
    assert.equal(await effect(read("/repo/proj/.env"), "default", { allow: ["Read"], deny: ["Read(./.env)"] }), "deny");
    assert.equal(await effect(edit("/repo/proj/a"), "acceptEdits", { ask: ["Edit"], deny: ["Edit(./a)"] }), "deny");
  });

  it("lets an ask rule win over allow rules and modes", async () => {
    for (const mode of ["default", "acceptEdits", "bypassPermissions"] as const) {
      assert.equal(await effect(run("git push"), mode, { allow: ["Bash"], ask: ["Bash(git push:*)"] }), "ask", mode);
      assert.equal(await effect(edit("/repo/proj/a"), mode, { allow: ["Edit"], ask: ["Edit(./a)"] }), "ask", mode);
    }
    assert.equal(await effect(run("git push"), "dontAsk", { allow: ["Bash"], ask: ["Bash(git push:*)"] }), "deny");
  });

  it("says which rule decided, where it was written, and why", async () => {
    assert.deepEqual(await full(run("rm x"), "default", { deny: ["Bash(rm:*)"] }), {
      effect: "deny",
      reason: "The rule Bash(rm:*) forbids it",
      rule: "Bash(rm:*)",
      source: "a test",
    });
    assert.deepEqual(await full(run("npm test"), "dontAsk"), {
      effect: "deny",
      reason:
        "Running a command needs permission in mode dontAsk: no rule allows npm, and mode dontAsk denies what would be asked",
      rule: "Bash(npm test)",
    });
  });

  it("matches paths as globs from the project, the root or home", async () => {
    const cases: [string, string, boolean][] = [
      ["Read(./src/**)", "/repo/proj/src/a/b.ts", true],
      ["Read(src/*.ts)", "/repo/proj/src/a.ts", true],
      ["Read(src/*.ts)", "/repo/proj/src/a/b.ts", false],
      ["Read(//etc/hosts)", "/etc/hosts", true],
      ["Read(/etc/hosts)", "/etc/hosts", false],
      ["Read(~/notes/**)", "/home/me/notes/x", true],
      ["Read(//repo/lib/**)", "/repo/library/x", false],
      ["Read(./src/**)", "/repo/proj/src", true],
      ["Read(./.env)", "/repo/proj/.ENV", true],
    ];
    for (const [rule, path, matches] of cases) {
      assert.equal((await effect(read(path), "plan", { deny: [rule] })) === "deny", matches, `${rule} ${path}`);
    }
  });

  it("knows tools by their other names", async () => {
    const cases: [string, Action][] = [
      ["Edit(./**)", edit("/repo/proj/a")],
      ["MultiEdit", edit("/repo/proj/a")],
      ["Edit(./a)", { tool: "apply_patch", kind: "edit", resource: "/repo/proj/a" }],
      ["Write(./a)", { tool: "apply_patch", kind: "edit", resource: "/repo/proj/a" }],
      ["apply_patch", { tool: "apply_patch", kind: "edit", resource: "/repo/proj/a" }],
      ["Read(//x)", { tool: "Grep", kind: "look", resource: "/x" }],
      ["Shell(rm:*)", run("rm x")],
      ["Agent", { tool: "Task", kind: "note", resource: "" }],
      ["mcp__files", { tool: "mcp__files__read", kind: "note", resource: "" }],
      ["mcp__files__*", { tool: "mcp__files__read", kind: "note", resource: "" }],
    ];
    for (const [rule, action] of cases) assert.equal(await effect(action, "bypassPermissions", { deny: [rule] }), "deny", rule);
    const other: Action = { tool: "mcp__files2__read", kind: "note", resource: "" };
    assert.equal(await effect(other, "default", { deny: ["mcp__files"] }), "allow");
  });

  it("asks when a rule speaks of a tool and what the call is about cannot be told", async () => {
    assert.equal(await effect(note, "default", { deny: ["TodoWrite(secret)"] }), "ask");
  });

  it("matches domains whole or by their subdomains", async () => {
    const allow = ["WebFetch(domain:example.org)"];
    assert.equal(await effect(fetchPage("https://docs.example.org/x"), "default", { allow }), "allow");
    assert.equal(await effect(fetchPage("https://evilexample.org/"), "default", { allow }), "ask");
    assert.equal(await effect(fetchPage("https://example.org.evil.net/"), "default", { allow }), "ask");
  });

  it("forbids what is in a folder that a rule names", async () => {
    const rules = { deny: ["Read(./private)", "Edit(./build/*)"] };
    assert.equal(await effect(read("/repo/proj/private/deep/x"), "bypassPermissions", rules), "deny");
    assert.equal(await effect(read("/repo/proj/private"), "bypassPermissions", rules), "deny");
    assert.equal(await effect(edit("/repo/proj/build/a/b"), "bypassPermissions", rules), "deny");
    assert.equal(await effect(read("/repo/proj/private-not/x"), "bypassPermissions", rules), "allow");
  });

  it("sees forbidden commands that a shell is given on its input", async () => {
    const commands = [
      "bash <<< 'rm x'",
      "bash -s << END\nls\nrm x\nEND",
      "echo 'rm x' | sh",
      "printf 'ls\\nrm x' | sudo bash",
      "echo rm x | bash",
    ];
    for (const command of commands)
      assert.equal(await effect(run(command), "bypassPermissions", { deny: ["Bash(rm:*)"] }), "deny", command);
    assert.equal(await effect(run("bash <<< 'ls'"), "default", { deny: ["Bash(rm:*)"] }), "ask");
  });

  it("lets git look only with a git that obeys no repository, and only where the command finds that one", async () => {
    const policy = { mode: "default", ask: [], deny: [], base: { root, home: "/home/me" }, readable: [] } as const;
    const gitOf = async (
      command: string,
      allow: string[] = [],
      inertGit?: () => Promise<string | undefined>,
    ): Promise<string> => {
      const rules = allow.map((text) => parseRule(text, "a test"));
      const { effect, git } = await decide({ ...policy, allow: rules, inertGit }, [run(command)]);
      const { folder = "the user's", reach, ruled } = git ?? {};
      return git ? `${effect} ${folder} for ${reach}${ruled ? ", .git only" : ""}` : effect;
    };
    const inert = async (): Promise<string> => "/inert";
    const everything = "allow /inert for everything";
    const cases: [string, string, string[]?][] = [
      ["git status", everything],
      ["ls", "allow"],
      ['echo "$(git ls-files)" | wc -l', everything],
      ["echo a | xargs -I{} git diff", everything],
      ["find . -name '*.ts' -exec git log -1 {} +", everything],
      ["timeout 5 git status; bash -c 'git status'; CI=1 git status; env CI=1 git status", everything],
      ["/usr/bin/git status", "ask"],
      ["command -p git status", "ask"],
      ["exec -c git status", "ask"],
      ["env -i git status", "ask"],
      ["env -u PATH git status", "ask"],
      ["bash -lc 'git status'", "ask"],
      ["bash -ic 'git status'", "ask"],
      ["zsh -c 'git status'", "ask"],
      ["npm test && git status", "allow /inert for shell", ["Bash(npm test:*)"]],
      ["npm test && ls", "allow", ["Bash(npm test:*)"]],
      ["npm test && echo a | xargs -I{} git diff", "ask", ["Bash(npm test:*)"]],
      ["git status", "allow the user's for shell, .git only", ["Bash(git status:*)"]],
      ["git status", "allow the user's for shell, .git only", ["Bash(git status)"]],
      ["timeout 5 git status; git log", "allow /inert for shell, .git only", ["Bash(git status:*)"]],
      ["env -i git status", "ask", ["Bash(git:*)"]],
      ["git status", "allow", ["Bash"]],
    ];
    for (const [command, expected, allow] of cases) assert.equal(await gitOf(command, allow, inert), expected, command);
    const asking = { ...policy, allow: [parseRule("Bash(npm test:*)")], inertGit: inert };
    const onNetwork = async (command: string, networkReads: boolean): Promise<unknown> => {
      const { effect, git } = await decide({ ...asking, networkReads }, [run(command)]);
      return [effect, git?.reach];
    };
    assert.deepEqual(await onNetwork("git ls-remote origin", false), ["ask", undefined]);
    assert.deepEqual(await onNetwork("git ls-remote origin", true), ["allow", "everything"]);
    assert.deepEqual(await onNetwork("npm test && git ls-remote origin", true), ["allow", "shell"]);
    assert.equal(await gitOf("git status"), "ask");
    assert.equal(await gitOf("git status", [], async () => undefined), "ask");
    assert.equal((await decide({ ...policy, mode: "plan", allow: [], inertGit: inert }, [run("git log")])).git?.folder, "/inert");
  });

  it("asks before a command changes what git is told", async () => {
    const names = "COUNT KEY_0 VALUE_0 PARAMETERS GLOBAL SYSTEM NOSYSTEM".split(" ").map((name) => `GIT_CONFIG_${name}`);
    const others = "DIR WORK_TREE EXEC_PATH EXTERNAL_DIFF SSH_COMMAND PAGER EDITOR ASKPASS TRACE ALLOW_PROTOCOL INDEX_FILE";
    for (const name of [...names, ...others.split(" ").map((name) => `GIT_${name}`), "PATH"])
      for (const command of [
        `${name}=0 git status`,
        `export ${name}=0; git status`,
        `export -n ${name}; git status`,
        `unset ${name}; git status`,
        `declare -x ${name}=0; git status`,
        `${name}=0; git status`,
        `read ${name} <<< 0; git status`,
        `env ${name}=0 git status`,
        `env -u ${name} git status`,
      ])
        assert.equal(await effect(run(command), "default"), "ask", command);
  });

  it("asks about a run of something that is not told", async () => {
    const untold: Action = { tool: "mcp__x__run", kind: "run", resource: "" };
    const modes = await Promise.all(permissionModes.map(async (mode) => `${mode} ${await effect(untold, mode)}`));
    assert.deepEqual(modes.sort(), [
      "acceptEdits ask",
      "bypassPermissions allow",
      "default ask",
      "dontAsk deny",
      "plan deny",
      "sandboxed ask",
    ]);
    assert.equal(await effect(untold, "default", { allow: ["mcp__x__run"] }), "allow");
    assert.equal(await effect(untold, "bypassPermissions", { deny: ["mcp__x__run"] }), "deny");
    assert.equal(await effect(untold, "bypassPermissions", { deny: ["Bash(rm:*)"] }), "ask");
    assert.equal(await effect(run(""), "default"), "ask");
  });

  it("never lets an allow rule change things in plan mode", async () => {
    assert.equal(await effect(run("npm test"), "plan", { allow: ["Bash"] }), "deny");
    assert.equal(await effect(edit("/repo/proj/a"), "plan", { allow: ["Edit"] }), "deny");
  });

  it("names the rule that would allow exactly what it asks about", async () => {
    for (const action of [
      run("npm test"),
      run("a && b > c"),
      run("rm *"),
      run("grep '\\*' x | sh"),
      read("/etc/hosts"),
      read("/home/me/.ssh/config"),
      edit("/repo/proj/src/a.ts"),
      edit("/repo/proj/.git/config"),
      fetchPage("https://example.org/a?b"),
    ]) {
      const { rule = "" } = await full(action, "default");
      assert.equal(await effect(action, "default", { allow: [rule] }), "allow", rule);
    }
    const { rule = "" } = await full(run("rm *"), "default");
    assert.equal(await effect(run("rm a"), "default", { allow: [rule] }), "ask");
  });

  it("says where the rule stands that wants to be asked, for commands and the files they name too", async () => {
    const asked = await Promise.all([
      full(run("make"), "default", { ask: ["Bash(make:*)"] }),
      full(run("cat .env"), "default", { ask: ["Read(./.env)"] }),
      full(edit("/repo/proj/a.ts"), "acceptEdits", { ask: ["Edit"] }),
      full({ tool: "mcp__a__b", kind: "reach", resource: "" }, "default", { deny: ["mcp__a__b(x)"] }),
    ]);
    assert.deepEqual(
      asked.map(({ effect, source }) => [effect, source]),
      Array.from({ length: 4 }, () => ["ask", "a test"]),
    );
  });

  it("names no place for a rule that has none", async () => {
    const policy = { mode: "default", allow: [], deny: [], base: { root, home: "/home/me" }, readable: [] } as const;
    assert.deepEqual(await decide({ ...policy, ask: [parseRule("Read")] }, [read("/repo/proj/a")]), {
      effect: "ask",
      reason: "The rule Read wants to be asked",
      rule: "Read(./a)",
      path: "/repo/proj/a",
    });
  });

  it("suggests a rule for one file, and for that file alone, whatever its name", async () => {
    for (const name of ["a*.ts", "b?.ts", "[id].tsx", "x\\*y", "**"]) {
      const { rule = "" } = await full(edit(`/repo/proj/${name}`), "default");
      assert.equal(await effect(edit(`/repo/proj/${name}`), "default", { allow: [rule] }), "allow", name);
      assert.equal(await effect(edit(`/repo/proj/${name}`), "acceptEdits", { deny: [rule] }), "deny", name);
      const other = name.replace(/[*?]/, "b");
      if (other !== name) assert.equal(await effect(edit(`/repo/proj/${other}`), "default", { allow: [rule] }), "ask", name);
    }
  });

  it("refuses text that is no rule", () => {
    for (const text of ["", "Bash(", "(x)", "rm -rf"]) assert.throws(() => parseRule(text), { code: "usage" }, text);
  });
});

describe("a call that does several things", () => {
  const policyWith = (allow: string[]): Policy => ({
    mode: "default",
    allow: allow.map((text) => parseRule(text)),
    ask: [],
    deny: [],
    base: { root, home: "/home/me" },
    readable: [],
    inertGit: async () => "/inert",
  });

  it("is decided by the strictest of them, by the first of two that are as strict, and by what rests on least", async () => {
    const [inside, other] = [read("/repo/proj/a"), read("/repo/proj/b")];
    const [git, settings] = [edit("/repo/proj/.git/config"), edit("/repo/proj/.claude/settings.json")];
    const [here, there] = [edit("/repo/proj/a"), edit("/srv/x")];
    const cases: [Action[], string][] = [
      [[], "allow: It touches nothing"],
      [[inside, here], "ask: Changing /repo/proj/a needs permission in mode default"],
      [[here, inside], "ask: Changing /repo/proj/a needs permission in mode default"],
      [[here, there], "ask: Changing /repo/proj/a needs permission in mode default"],
      [[here, git, inside], "deny: /repo/proj/.git/config is protected: git's own files decide what git runs"],
      [[git, here], "deny: /repo/proj/.git/config is protected: git's own files decide what git runs"],
      [[git, settings], "deny: /repo/proj/.git/config is protected: git's own files decide what git runs"],
      [[fetchPage("https://example.org/"), other], "allow: Reading in the project is allowed"],
      [[other, fetchPage("https://example.org/")], "allow: Reading in the project is allowed"],
      [[fetchPage("https://example.org/")], "allow: The rule WebFetch allows it"],
      [[fetchPage("https://example.org/"), there], "ask: Changing /srv/x needs permission in mode default"],
    ];
    for (const [actions, expected] of cases) {
      const { effect, reason } = await decide(policyWith(["WebFetch"]), actions);
      assert.equal(`${effect}: ${reason}`, expected);
    }
  });

  it("keeps the git that one of them needs, and needs none when it is not allowed", async () => {
    const folders = async (...actions: Action[]): Promise<unknown> => (await decide(policyWith([]), actions)).git?.folder;
    assert.deepEqual(
      await Promise.all([
        folders(run("git status")),
        folders(run("git status"), read("/repo/proj/a")),
        folders(read("/repo/proj/a"), run("git status")),
        folders(run("git status"), edit("/repo/proj/a")),
        folders(run("ls")),
      ]),
      ["/inert", "/inert", "/inert", undefined, undefined],
    );
  });
});

describe("mode sandboxed", () => {
  const reached = async (resource: string, given: Partial<Policy> = {}, kind: Action["kind"] = "reach"): Promise<string> => {
    const base = { root, home: "/home/me" };
    const box = async () => ({ reaches: ({ host }: URL) => host === "example.org", writable: [] });
    const policy: Policy = { mode: "sandboxed", allow: [], ask: [], deny: [], base, readable: [], box, ...given };
    return (await decide(policy, [{ tool: "WebFetch", kind, resource }])).effect;
  };

  it("reaches the hosts that programs in the box reach, and asks about others", async () => {
    assert.equal(await reached("https://example.org/a"), "allow");
    assert.equal(await reached("https://example.com/a"), "ask");
    assert.equal(await reached("example.org"), "ask");
    assert.equal(await reached("https://example.org/a", { box: undefined }), "ask");
    assert.equal(await reached("https://example.org/a", { mode: "default" }), "ask");
    assert.equal(await reached("https://example.org/a", {}, "look"), "ask");
  });

  it("lets rules speak first, wherever they come from", async () => {
    for (const rules of [[parseRule("WebFetch", "a test")], [parseRule("WebFetch")]]) {
      assert.equal(await reached("https://example.org/a", { deny: rules }), "deny");
      assert.equal(await reached("https://example.org/a", { ask: rules }), "ask");
      assert.equal(await reached("https://example.com/a", { allow: rules }), "allow");
    }
  });
});

describe("a yes", () => {
  it("says whether a rule gave it, or an answer that is remembered", async () => {
    const action = fetchPage("https://example.org/");
    const policy = { mode: "default", ask: [], deny: [], base: { root, home: "/home/me" }, readable: [] } as const;
    const by = async (rule: Rule): Promise<unknown> => (await decide({ ...policy, allow: [rule] }, [action])).by;
    assert.equal(await by(parseRule("WebFetch")), "rule");
    assert.equal(await by({ ...parseRule("WebFetch"), exactly: action }), "grant");
  });
});

describe("names of devices", () => {
  it("are neither read nor written on Windows, whatever is allowed", async () => {
    const decideOn = async (platform: string, action: Action): Promise<string> => {
      const base = { root, home: "/home/me", platform };
      return (await decide({ mode: "bypassPermissions", allow: [], ask: [], deny: [], base, readable: [] }, [action])).effect;
    };
    const actions = [read("/repo/proj/NUL.txt"), edit("/repo/proj/con"), { ...note, resource: "/repo/proj/con" }];
    assert.deepEqual(await Promise.all(actions.map((action) => decideOn("win32", action))), ["deny", "deny", "allow"]);
    assert.deepEqual(await Promise.all(actions.map((action) => decideOn("linux", action))), ["allow", "allow", "allow"]);
  });
});

describe("protected files", () => {
  it("are opened only by a rule written for them", async () => {
    const cases: [string, string, Rules, string][] = [
      ["/repo/proj/.git/config", "acceptEdits", {}, "deny"],
      ["/repo/proj/.git", "acceptEdits", { allow: ["Edit"] }, "deny"],
      ["/repo/proj/.GIT/hooks/x", "acceptEdits", { allow: ["Edit(./**)"] }, "deny"],
      ["/repo/proj/.g\u200cit/config", "acceptEdits", {}, "deny"],
      ["/repo/proj/.git./config", "acceptEdits", {}, "deny"],
      ["/repo/proj/git~1/config", "acceptEdits", {}, "deny"],
      ["/repo/proj/sub/.git/config", "acceptEdits", {}, "deny"],
      ["/repo/proj/.git/config", "acceptEdits", { allow: ["Edit(./.git/config)"] }, "allow"],
      ["/repo/proj/.git/config", "bypassPermissions", {}, "allow"],
      ["/repo/proj/.github/workflows/x.yml", "acceptEdits", {}, "allow"],
      ["/repo/proj/.gitignore", "acceptEdits", {}, "allow"],
      ["/repo/proj/.outrider/settings.json", "acceptEdits", {}, "deny"],
      ["/repo/proj/.outrider/memory/MEMORY.md", "acceptEdits", {}, "deny"],
      ["/repo/proj/.outrider/memory/x.md", "acceptEdits", { allow: ["Edit(./.outrider/memory/**)"] }, "allow"],
      ["/repo/proj/.claude/settings.local.json", "acceptEdits", { allow: ["Edit"] }, "deny"],
      ["/repo/proj/.claude/settings.json", "acceptEdits", { allow: ["Edit(.claude/**)"] }, "allow"],
      ["/repo/proj/.claude/worktrees/a/src/x.ts", "acceptEdits", {}, "allow"],
      ["/repo/proj/.vscode/tasks.json", "acceptEdits", {}, "ask"],
      ["/repo/proj/.envrc", "acceptEdits", {}, "ask"],
      ["/home/me/.bashrc", "acceptEdits", { allow: ["Edit(//**)"] }, "ask"],
      ["/home/me/.bashrc", "acceptEdits", { allow: ["Edit(~/.bashrc)"] }, "allow"],
      ["/etc/cron.d/x", "acceptEdits", { allow: ["Edit(//**)"] }, "ask"],
    ];
    for (const [path, mode, rules, expected] of cases)
      assert.equal(await effect(edit(path), mode as PermissionMode, rules), expected, `${path} ${mode} ${JSON.stringify(rules)}`);
  });

  it("are also the scripts that the session itself runs outside, by any way to write their names, and the folders around them", async () => {
    const decided = async (action: Action, mode: PermissionMode, allow: string[] = []): Promise<string> => {
      const base = { root, home: "/home/me", runOutside: [`${root}/Tools/h.sh`] };
      const rules = { allow: allow.map((text) => parseRule(text, "a test")), ask: [], deny: [], readable: [] };
      const { effect, reason } = await decide({ mode, base, inertGit: async () => "/inert", ...rules }, [action]);
      return effect === "ask" ? `ask: ${/hooks or servers of this session/.test(reason)}` : effect;
    };
    const script = `${root}/tools/h.sh`;
    assert.equal(await decided(edit(script), "acceptEdits"), "ask: true");
    assert.equal(await decided(edit(`${root}/TOOLS/H.SH`), "acceptEdits", ["Edit(./**)"]), "ask: true");
    assert.equal(await decided(run("mv tools x"), "acceptEdits"), "ask: true");
    assert.equal(await decided(edit(`${root}/tools/other.sh`), "acceptEdits"), "allow");
    assert.equal(await decided(edit(`${script}/below`), "acceptEdits"), "allow");
    assert.equal(await decided(read(script), "default"), "allow");
    assert.equal(await decided(edit(script), "acceptEdits", ["Edit(./tools/h.sh)"]), "allow");
    assert.equal(await decided(edit(script), "bypassPermissions"), "allow");
  });

  it("keep secrets of users and processes from being read on a general rule", async () => {
    const allow = ["Read(//**)"];
    assert.equal(await effect(read("/srv/x"), "default", { allow }), "allow");
    assert.equal(await effect(read("/home/me/.ssh/id_rsa"), "default", { allow }), "ask");
    assert.equal(await effect(read("/home/me/.ssh/id_rsa"), "default", { allow: ["Read(~/.ssh/**)"] }), "allow");
    assert.equal(await effect(read("/proc/12/environ"), "bypassPermissions", { allow }), "deny");
    assert.equal(await effect(read("/proc/self/task/1/environ"), "default", { allow }), "deny");
    assert.equal(await effect(read("/dev/zero"), "default", { allow }), "deny");
  });

  it("keep commands that name secrets of processes from running in every mode", async () => {
    const run = (resource: string): Action => ({ tool: "Bash", kind: "run", resource });
    const inBypass = (command: string, rules = {}) => effect(run(command), "bypassPermissions", rules);
    for (const command of [
      "cat /proc/1/environ",
      "cat /proc/self/env*",
      "tr x y < /proc/self/environ",
      "cd /proc/1 && cat environ",
    ])
      assert.equal(await inBypass(command), "deny", command);
    for (const command of ["cat /proc/cpuinfo", "cat src/*.ts", "kill 12", "export A=/proc; printenv"])
      assert.equal(await inBypass(command), "allow", command);
    assert.equal(await inBypass("cat /proc/1/environ", { allow: ["Bash(cat /proc/1/environ)"] }), "allow");
  });
});

describe("directories beside the root", () => {
  const effectIn = async (directories: string[], action: Action, allow: string[] = []): Promise<string> => {
    const policy = { mode: "acceptEdits" as const, allow: allow.map((text) => parseRule(text, "a test")), ask: [], deny: [] };
    const base = { root, home: "/home/me" };
    return (await decide({ ...policy, base, directories, readable: [], inertGit: async () => "/inert" }, [action])).effect;
  };

  it("are worked in like the root, and guarded like it", async () => {
    const actions: Record<string, Action> = {
      read: read("/data/lib/a.ts"),
      edit: edit("/data/lib/a.ts"),
      "edit a neighbour": edit("/data/library/a.ts"),
      "edit git's files": edit("/data/lib/.git/hooks/pre-commit"),
      "edit git's files further down": edit("/data/lib/sub/.git/config"),
      "edit settings": edit("/data/lib/.claude/settings.json"),
      "edit our settings": edit("/data/lib/.outrider/settings.json"),
      "edit a start-up file": edit("/data/lib/.envrc"),
      "replace it": edit("/data/lib"),
    };
    const effects: Record<string, string> = {};
    for (const [name, action] of Object.entries(actions)) effects[name] = await effectIn(["/data/lib"], action);
    assert.deepEqual(effects, {
      read: "allow",
      edit: "allow",
      "edit a neighbour": "ask",
      "edit git's files": "deny",
      "edit git's files further down": "deny",
      "edit settings": "deny",
      "edit our settings": "deny",
      "edit a start-up file": "ask",
      "replace it": "ask",
    });
  });

  it("stay guarded when they lie in a guarded folder themselves", async () => {
    assert.equal(await effectIn(["/data/lib/.git/hooks"], edit("/data/lib/.git/hooks/pre-commit")), "deny");
    assert.equal(await effectIn(["/home/me/.claude"], edit("/home/me/.claude/settings.json")), "deny");
  });

  it("are none when they hold everything or the home directory", async () => {
    for (const folder of ["/", "/home", "/home/me"]) {
      assert.equal(await effectIn([folder], read("/home/me/notes.txt")), "ask", folder);
      assert.equal(await effectIn([folder], edit("/home/me/notes.txt")), "ask", folder);
      assert.equal(await effectIn([folder], run("cp a /home/me/notes.txt"), ["Bash(cp:*)"]), "ask", folder);
    }
    assert.equal(await effectIn(["/home/me/work"], edit("/home/me/work/notes.txt")), "allow");
  });

  it("are kept whole by a rule for a program", async () => {
    assert.equal(await effectIn(["/data/lib"], run("cp a /data/lib/b"), ["Bash(cp:*)"]), "allow");
    assert.equal(await effectIn(["/data/lib"], run("rm -r /data/lib"), ["Bash(rm:*)"]), "ask");
    assert.equal(await effectIn(["/data/lib"], run("cp a /data/lib/.git/hooks/x"), ["Bash(cp:*)"]), "deny");
  });
});

describe("a pattern of the shell that may name a guarded file", () => {
  it("is asked about, and one that cannot is not", async () => {
    const commands: Record<string, string> = {
      "cp a .gi?/hooks/x": "ask",
      "cp a .g*": "ask",
      "cp a .[g]it/config": "ask",
      "cp a sub/.gi?/config": "ask",
      "cp a .claud?/settings.json": "ask",
      "cp a .bash*": "ask",
      "rm .ssh*/x": "ask",
      "rm *.txt": "allow",
      "rm .eslintcache*": "allow",
      "cp a app/[slug]/page.tsx": "allow",
      "rm sub/*/x.o": "allow",
    };
    const effects: Record<string, string> = {};
    for (const command of Object.keys(commands))
      effects[command] = await effect(run(command), "acceptEdits", { allow: ["Bash(cp:*)", "Bash(rm:*)"] });
    assert.deepEqual(effects, commands);
  });

  it("does not make files of a literal name with such characters guarded", async () => {
    assert.equal(await effect(edit("/repo/proj/app/[slug]/page.tsx"), "acceptEdits"), "allow");
    assert.equal(await effect(edit("/repo/proj/data[1].git.txt"), "acceptEdits"), "allow");
  });
});
