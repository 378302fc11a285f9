import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { detectSandbox } from "../../packages/runtime/src/workspace/detect-sandbox.ts";
import { model, run, tempFolder } from "./command.ts";
import { call, key, type Options, placeOf, where, withoutNamespaces } from "./one-call.ts";

const found = await detectSandbox();
const needsBox = found.available ? {} : { skip: found.reason };

const shown =
  "GH_TOKEN AWS_SECRET_ACCESS_KEY NPM_TOKEN SSH_AUTH_SOCK DATABASE_URL ANTHROPIC_API_KEY PLAIN CLAUDECODE CLAUDE_CODE_CHILD_SESSION".split(
    " ",
  );

describe("where a command runs", needsBox, () => {
  const cases: [name: string, args: string[], place: string, input?: object][] = [
    ["what only looks", [], "box"],
    ["what only looks, in plan mode", ["--permission-mode", "plan"], "box"],
    ["what a rule names", ["--allowedTools", "Bash(echo:*)"], "outside"],
    ["what a rule for the tool covers", ["--allowedTools", "Bash"], "outside"],
    ["everything in bypassPermissions, by the mode alone", ["--permission-mode", "bypassPermissions"], "outside"],
    ["everything with --dangerously-skip-permissions", ["--dangerously-skip-permissions"], "outside"],
    ["what the mode sandboxed contains", ["--permission-mode", "sandboxed"], "box"],
    ["what a rule names, in mode sandboxed", ["--permission-mode", "sandboxed", "--allowedTools", "Bash(echo:*)"], "outside"],
    ["everything with --sandbox require", ["--sandbox", "require", "--dangerously-skip-permissions"], "box"],
    ["what only looks, with --sandbox off", ["--sandbox", "off"], "outside"],
    ["what asks to leave, with nobody to say yes", [], "not run", { dangerouslyDisableSandbox: true }],
    ["what asks to leave mode sandboxed", ["--permission-mode", "sandboxed"], "not run", { dangerouslyDisableSandbox: true }],
    ["what asks to leave, by a rule", ["--allowedTools", "Bash"], "outside", { dangerouslyDisableSandbox: true }],
  ];
  for (const [name, args, place, input] of cases)
    it(`${name}: ${place}`, async () =>
      assert.equal(placeOf(await call(where, args, input ? { input: input as Record<string, unknown> } : {})), place));
});

describe("mode sandboxed", needsBox, () => {
  const sandboxed = ["--permission-mode", "sandboxed"];

  it("runs anything the box contains without a rule, and changes the project", async () => {
    const { result } = await call(
      'node -e \'require("fs").writeFileSync("b.txt", "b")\' && cat b.txt && python3 -c \'print(1)\' ; git init -q x; ls -d x',
      sandboxed,
    );
    assert.match(result, /^b/);
    assert.match(result, /x$/);
  });

  for (const [name, command] of [
    ["an address", "curl -s https://example.com/"],
    ["a host by ssh", "git clone git@github.com:a/b.git"],
    ["a file outside", "echo x > /var/lib/outrider-test"],
    ["a file elsewhere", "cp a.txt /opt/outrider-test"],
  ] as const)
    it(`asks about what would leave it: ${name}`, async () => {
      const told = await call(command, sandboxed);
      assert.match(told.result, /needs permission|Not permitted/);
      assert.equal((told.last["permission_denials"] as unknown[]).length, 1);
    });

  it("hides what a deny rule names from every program", async () => {
    const args = [...sandboxed, "--disallowedTools", "Read(./a.txt)"];
    const { result } = await call('node -p \'require("fs").readFileSync(["a", "txt"].join("."), "utf8").length\'', args);
    assert.doesNotMatch(result, /^2$/m);
  });

  it("does not begin where there is no box", async () => {
    const broken = await call("ls", sandboxed, { through: withoutNamespaces });
    assert.deepEqual([broken.run.code, broken.result], [78, ""]);
    assert.match(
      broken.run.stderr,
      /Mode sandboxed runs commands in a sandbox, and there is none: the kernel does not let bubblewrap/,
    );
    const off = await call("ls", [...sandboxed, "--sandbox", "off"]);
    assert.deepEqual([off.run.code, off.result], [78, ""]);
    assert.match(off.run.stderr, /the sandbox is turned off/);
  });
});

describe("the variables of a command", needsBox, () => {
  const show = `for n in ${shown.join(" ")}; do [ -n "\${!n}" ] && printf '%s ' $n; done; :`;
  const all = "GH_TOKEN AWS_SECRET_ACCESS_KEY NPM_TOKEN SSH_AUTH_SOCK DATABASE_URL PLAIN CLAUDECODE CLAUDE_CODE_CHILD_SESSION";
  const cases: [name: string, args: string[], names: string, options?: Options][] = [
    ["outside are the user's, but for keys of models", ["--allowedTools", "Bash"], all],
    ["in bypassPermissions are the user's too", ["--permission-mode", "bypassPermissions"], all],
    [
      "in the box are those that are no secrets",
      ["--permission-mode", "sandboxed"],
      "PLAIN CLAUDECODE CLAUDE_CODE_CHILD_SESSION",
    ],
    [
      "with --sandbox require are those that are no secrets",
      ["--allowedTools", "Bash", "--sandbox", "require"],
      "PLAIN CLAUDECODE CLAUDE_CODE_CHILD_SESSION",
    ],
    [
      "and those that are to be passed on",
      ["--permission-mode", "sandboxed", "--pass-env", "GH_TOKEN,NPM_TOKEN"],
      "GH_TOKEN NPM_TOKEN PLAIN CLAUDECODE CLAUDE_CODE_CHILD_SESSION",
    ],
    ["even a key of a model", ["--allowedTools", "Bash", "--pass-env", "ANTHROPIC_API_KEY"], `${all} ANTHROPIC_API_KEY`],
    [
      "in a project that is not trusted are no secrets, also outside",
      ["--allowedTools", "Bash"],
      "PLAIN CLAUDECODE CLAUDE_CODE_CHILD_SESSION",
      { settings: { permissions: { allow: ["Write"] } } },
    ],
  ];
  for (const [name, args, names, options] of cases)
    it(name, async () => {
      const { result } = await call(show, args, options);
      assert.deepEqual(result.trim().split(" ").sort(), names.split(" ").sort());
    });

  it("of settings hold no copy of a key of a model, under whatever name", async () => {
    const written = "k-0123456789abcdefghij";
    const settings = {
      env: { COPY: key, HEADER: `x-api-key: ${key}`, WRITTEN: written, KEPT: "kept" },
      providers: { other: { type: "openai", model: "m", apiKey: written } },
    };
    const names = ["COPY", "HEADER", "WRITTEN", "KEPT"];
    const told = await call(`for n in ${names.join(" ")}; do [ -n "\${!n}" ] && printf '%s ' $n; done; :`, [
      ...["--allowedTools", "Bash", "--settings", JSON.stringify(settings)],
    ]);
    assert.equal(told.result.trim(), "KEPT");
    assert.match(JSON.stringify(told.last["warnings"]), /env\.COPY of the settings has no effect/);
  });

  it("reach hooks of the user as they are, but for keys of models", async () => {
    const out = join(tempFolder("places-hook"), "env");
    const hook = { hooks: { PreToolUse: [{ hooks: [{ type: "command", command: `env > ${out}` }] }] } };
    await call("ls", ["--settings", JSON.stringify(hook)]);
    const names = readFileSync(out, "utf8")
      .split("\n")
      .map((line) => line.split("=")[0]);
    assert.deepEqual(shown.filter((name) => names.includes(name)).sort(), all.split(" ").sort());
  });

  for (const [name, command] of [
    [
      "the environment of this program",
      "tr '\\0' '\\n' < /proc/$PPID/environ; ps eww -p $PPID; cat /proc/$PPID/environ | xxd -p | tr -d '\\n'",
    ],
    ["its own", "env; cat /proc/$$/environ"],
  ] as const)
    it(`hold no key of a model: ${name}`, async () => {
      const forms = `-e ${key.slice(7)} -e ${Buffer.from(key.slice(7)).toString("hex")}`;
      const search = `{ ${command}; } > seen 2>&1; grep -ac PLAIN=plain seen; grep -ac ${forms} seen; :`;
      const { result } = await call(search, ["--permission-mode", "bypassPermissions"]);
      assert.match(result, /^[1-9]\d*\n0$/);
    });

  it("does not keep the program itself from asking the model, with the key", async () => {
    const told = await call("true", ["--permission-mode", "bypassPermissions"]);
    assert.equal(told.last["subtype"], "success");
  });
});

describe("everybody is told where commands run", needsBox, () => {
  const withheld = ["AWS_SECRET_ACCESS_KEY", "DATABASE_URL", "GH_TOKEN", "NPM_TOKEN", "OUTRIDER_HOME", "SSH_AUTH_SOCK"];

  it("init and the system prompt: in the box, without network, and which variables are missing", async () => {
    const { init, system } = await call("ls", []);
    assert.deepEqual([init["sandbox"], init["places"]], ["bubblewrap", { boxed: "unasked", network: "none", withheld }]);
    assert.match(system, /Sandbox: A command that a rule or a person allows runs as the user; any other runs in a sandbox: /);
    assert.ok(system.includes(`no network, and without these variables: ${withheld.join(", ")}.`));
  });

  it("init with --sandbox require and with a domain", async () => {
    const required = await call("ls", [
      "--sandbox",
      "require",
      "--settings",
      '{"sandbox":{"network":{"domains":["example.com"]}}}',
    ]);
    assert.deepEqual(required.init["places"], { boxed: "everything", network: "domains", withheld });
    assert.match(required.system, /Every command runs in a sandbox: .*network for listed domains only/);
  });

  it("where user namespaces are forbidden: not init's sandbox, and every format says so", async () => {
    const told = await call("ls", [], { through: withoutNamespaces });
    assert.equal(told.init["sandbox"], "none");
    assert.match((told.init["places"] as { reason: string }).reason, /user namespaces/);
    assert.equal(told.result, "a.txt");
    for (const format of ["text", "json"]) {
      const { run: plain } = await call("ls", ["--output-format", format], { through: withoutNamespaces });
      assert.match(plain.stderr, /^outrider: Commands run without a sandbox: the kernel does not let bubblewrap/m);
      assert.equal(plain.stderr.match(/without a sandbox/g)?.length, 1);
      if (format === "json") assert.match(JSON.parse(plain.stdout).warnings[0], /Commands run without a sandbox/);
    }
  });

  const failures: [name: string, command: string, words: RegExp][] = [
    ["for another reason", "ls nothing-here", /Exit code 2 \(It ran in the sandbox\.\)$/],
    [
      "for want of a network",
      'node -e \'require("net").connect(80, "192.0.2.1")\'',
      /\(It ran in the sandbox\.\) There is no network there\. A rule of the user's for this command, or a yes/,
    ],
    [
      "for want of a variable",
      "echo 'GH_TOKEN is not set' >&2; exit 4",
      /Not passed on to it: GH_TOKEN; --pass-env NAME does that\./,
    ],
    [
      "because it may not write",
      'node -e \'require("fs").writeFileSync("/usr/outrider-test", "")\'',
      /Only the project and \/tmp are writable there/,
    ],
  ];
  for (const [name, command, words] of failures)
    it(`the result of a call that failed ${name}`, async () => {
      const args = ["--permission-mode", "sandboxed"];
      const { result } = await call(command, args);
      assert.match(result, words);
    });

  it("stderr and the result, once, when a command failed for it", async () => {
    const command = 'node -e \'require("net").connect(80, "192.0.2.1")\'';
    const { run: plain } = await call(command, ["--permission-mode", "sandboxed", "--output-format", "json"]);
    assert.equal(plain.stderr.match(/A command failed in the sandbox\. There is no network there\./g)?.length, 1);
    assert.match(JSON.parse(plain.stdout).warnings.join(), /There is no network there/);
  });

  it("nothing about a place in the result of a call that failed outside", async () => {
    const { result } = await call("ls nothing-here", ["--allowedTools", "Bash"]);
    assert.match(result, /Exit code 2$/);
  });
});

describe("that bubblewrap works", needsBox, () => {
  it("is remembered in the user's own folder, and not by a run that keeps nothing", async () => {
    const home = tempFolder("places-memory");
    const { env } = await model([{ text: "a" }, { text: "b" }], home);
    await run(["-p", "go", "--no-session-persistence"], { env, cwd: home });
    assert.equal(existsSync(join(home, "sandbox-works.json")), false);
    await run(["-p", "go"], { env, cwd: home });
    assert.match(readFileSync(join(home, "sandbox-works.json"), "utf8"), /bwrap/);
  });
});
