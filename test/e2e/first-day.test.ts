import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isStandalone, model, run, tempFolder } from "./command.ts";

const everything = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
const readJson = (path: string): Record<string, unknown> => JSON.parse(readFileSync(path, "utf8"));
const hasProgram = (name: string): boolean => spawnSync("which", [name]).status === 0;

describe("a slip in a command's name", () => {
  const cases: [words: string[], said: RegExp][] = [
    [["session", "list"], /no command "session"; did you mean sessions\?.*pass it with -p/s],
    [["sesions"], /did you mean sessions\?/],
    [["doctr"], /did you mean doctor\?/],
    [["mpc", "add", "x", "y"], /did you mean mcp\?/],
    [["update"], /updated by whatever installed it/],
    [["login"], /nothing to log in to/],
    [["resume", "abc"], /--resume SESSION/],
    [["help", "sesions"], /did you mean sessions\?/],
    [["mcp", "ad"], /no action "ad"; did you mean add\?/],
    [["providers", "remov"], /did you mean remove\?/],
    [["completion", "bsh"], /did you mean bash\?/],
    [["plugin", "install", "x"], /it is no folder, no owner\/repo and no address/],
    [["mcp", "serve", "odd"], /mcp serve does not take "odd"/],
    [["mcp", "add", "x", "ftp://example.com"], /ftp:\/\/ is no way to reach a server/],
    [["mcp", "add", "-t", "http", "x", "ws://example.com"], /an address begins with http/],
    [["mcp", "add", "bad name!", "echo"], /"bad name!" cannot be a server's name: letters, digits, - and _/],
    [["config", "set", "model", "x"], /settings are files/],
  ];
  for (const [words, said] of cases) {
    it(`costs nothing: ${words.join(" ")}`, async () => {
      const { env, server } = await model(() => ({ text: "paid" }), tempFolder());
      const { code, stderr } = await run(words, { env });
      assert.match(stderr, said);
      assert.deepEqual([code, server.requests.length], [64, 0]);
    });
  }

  it("is none in a prompt", async () => {
    const { env, server } = await model(() => ({ text: "ok" }), tempFolder());
    for (const words of [["-p", "update"], ["--prompt", "doctr"], ["update the tests"], ["hello"], ["--", "session"]]) {
      assert.equal((await run(words, { env })).code, 0, words.join(" "));
    }
    assert.equal(server.requests.length, 5);
  });
});

describe("help", () => {
  it("is that of the flag, and knows every command", async () => {
    const [whole, one] = [await run(["help"]), await run(["help", "sessions"])];
    assert.equal(whole.stdout, (await run(["--help"])).stdout);
    assert.match(one.stdout, /^Usage:\n {2}outrider sessions list/);
    const names = [...whole.stdout.matchAll(/^ {2}outrider ([a-z]+)/gm)].map(([, name]) => name ?? "");
    assert.ok(names.length >= 14, names.join());
    for (const name of names) {
      const { code, stdout } = await run([name, "--help"]);
      assert.equal(code, 0, name);
      assert.match(stdout, /^(?:Usage:|outrider \d)/, name);
    }
  });
});

describe("completion", () => {
  const script = (shell: string): string => {
    const path = join(tempFolder(), `outrider.${shell}`);
    writeFileSync(path, completions[shell] ?? "");
    return path;
  };
  const completions: Record<string, string> = {};
  it("is printed for three shells", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, stdout } = await run(["completion", shell]);
      assert.equal(code, 0);
      completions[shell] = stdout;
    }
  });

  const offered: [words: string[], expected: string[]][] = [
    [["outrider", "ses"], ["sessions"]],
    [["outrider", "sessions", "re"], ["rename"]],
    [["outrider", "-p", "x", "--output-for"], ["--output-format"]],
    [["outrider", "-p", "x", "--output-format", "str"], ["stream-json"]],
    [
      ["outrider", "mcp", "a"],
      ["add", "add-json"],
    ],
  ];
  for (const [words, expected] of offered) {
    it(`completes ${words.join(" ")} in bash`, () => {
      const call = `source '${script("bash")}'; COMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _outrider; echo "\${COMPREPLY[*]}"`;
      assert.equal(execFileSync("bash", ["-c", call], { encoding: "utf8" }).trim(), expected.join(" "));
    });

    it(`completes ${words.join(" ")} in fish`, { skip: !hasProgram("fish") }, () => {
      const call = `source '${script("fish")}'; complete -C '${words.join(" ")}'`;
      const shown = execFileSync("fish", ["--no-config", "-c", call], { encoding: "utf8" });
      const names = shown
        .trim()
        .split("\n")
        .map((line) => line.split("\t")[0] ?? "");
      for (const name of expected) assert.ok(names.includes(name), shown);
    });
  }

  it("is a file of zsh", { skip: !hasProgram("zsh") }, () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "_outrider"), completions["zsh"] ?? "");
    const load = `fpath=('${folder}' $fpath); autoload -Uz compinit && compinit -u -D && echo "$_comps[outrider]"; autoload +X _outrider && echo loaded`;
    assert.equal(execFileSync("zsh", ["-fc", load], { encoding: "utf8" }), "_outrider\nloaded\n");
    execFileSync("zsh", ["-n", join(folder, "_outrider")]);
  });
});

describe("providers", () => {
  it("are chosen and removed by their keys", async () => {
    const env = { OUTRIDER_HOME: tempFolder(), OPENAI_API_KEY: "k" };
    const file = join(env.OUTRIDER_HOME, "settings.json");
    for (const name of ["one", "two"]) await run(["providers", "add", "openai", "--name", name], { env });
    assert.equal(readJson(file)["currentProvider"], "one");
    assert.equal((await run(["providers", "use", "two"], { env })).code, 0);
    assert.equal(readJson(file)["currentProvider"], "two");
    assert.equal((await run(["providers", "remove", "two"], { env })).code, 0);
    assert.deepEqual(
      [readJson(file)["currentProvider"], Object.keys(readJson(file)["providers"] as object)],
      [undefined, ["one"]],
    );
    const unknown = await run(["providers", "use", "onee"], { env });
    assert.equal(unknown.code, 66);
    assert.match(unknown.stderr, /did you mean one\?/);
  });
});

describe("mcp", () => {
  it("lists who would not start, and why, as far as that can be told without starting it", async () => {
    const home = tempFolder("mcp-list");
    const mcpServers = {
      web: { url: "http://127.0.0.1:9/", headers: { Authorization: "Bearer $" + "{NO_SUCH_TOKEN}" } },
      gone: { command: "no-such-program-anywhere" },
      lost: { command: "./no/such/file" },
      off: { command: process.execPath, disabled: true },
      here: { command: process.execPath },
    };
    writeFileSync(join(home, "settings.json"), JSON.stringify({ mcpServers }));
    const { stdout } = await run(["mcp", "list", "--json"], { env: { OUTRIDER_HOME: home } });
    const rows = JSON.parse(stdout) as { name: string; starts: boolean; why?: string }[];
    assert.deepEqual(
      rows.map(({ name, starts }) => `${name} ${starts}`),
      ["web false", "gone false", "lost false", "off false", "here true"],
    );
    assert.match(rows[0]?.why ?? "", /the variable NO_SUCH_TOKEN is not set/);
    assert.match(rows[1]?.why ?? "", /there is no program no-such-program-anywhere/);
  });

  it("adds, shows, tries and removes a server that a run then has", async () => {
    const home = tempFolder();
    const { env, server } = await model(() => ({ text: "ok" }), home);
    const added = await run(["mcp", "add", "ev", process.execPath, everything, "stdio"], { env });
    assert.equal(added.code, 0, added.stderr);
    assert.match((await run(["mcp", "list"], { env })).stdout, /^ev {2}user {2}starts {2}.*index\.js stdio/);
    const tried = await run(["mcp", "test", "--json"], { env });
    const [state] = JSON.parse(tried.stdout);
    assert.deepEqual([tried.code, state.name, state.status, state.tools.includes("echo")], [0, "ev", "connected", true]);
    await run(["-p", "x"], { env });
    assert.match(JSON.stringify(server.requests.at(-1)?.body), /mcp__ev__echo/);
    assert.equal((await run(["mcp", "add", "ev", "other"], { env })).code, 64);
    assert.equal((await run(["mcp", "remove", "ev"], { env })).code, 0);
    assert.deepEqual(readJson(join(home, "settings.json"))["mcpServers"], {});
    assert.match((await run(["mcp", "list"], { env })).stdout, /No MCP server/);
  });

  it("tells what of a server's list is left out, quotes what it shows, and does not fail for a server that is switched off", async () => {
    const home = tempFolder();
    const script = `
      const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
      require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method, params } = JSON.parse(line);
        const serverInfo = { name: "s", version: "1" };
        if (method === "initialize") say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo });
        if (method === "tools/list") say(id, { tools: [{ name: "good" }, {}, { name: "good" }] });
      });`;
    const mcpServers = {
      odd: { command: process.execPath, args: ["-e", script] },
      off: { command: "echo", args: ["it's"], disabled: true },
    };
    writeFileSync(join(home, "settings.json"), JSON.stringify({ mcpServers }));
    const env = { OUTRIDER_HOME: home };
    const tried = await run(["mcp", "test"], { env });
    assert.deepEqual(tried.stdout.trim().split("\n"), [
      "odd  works, 1 tool: good; 1 tool is left out: without a name that is a text; 1 tool is left out: with a name that another one has",
      "off  is switched off",
    ]);
    assert.equal(tried.code, 0);
    assert.equal((await run(["mcp", "test", "off"], { env })).code, 1);
    assert.match((await run(["mcp", "list"], { env })).stdout, /^off .* echo 'it'\\''s' {2}/m);
  });

  it("keeps keys out of files and out of sight", async () => {
    const env = { OUTRIDER_HOME: tempFolder() };
    const header = "Authorization: Bearer $" + "{WEB_TOKEN}";
    assert.equal((await run(["mcp", "add", "web", "https://127.0.0.1:9/mcp", "-H", header], { env })).code, 0);
    await run(["mcp", "add", "plain", "tool", "-e", "API_KEY=sk-very-secret-value"], { env });
    const shown = (await run(["mcp", "list", "--json"], { env })).stdout + (await run(["mcp", "get", "plain"], { env })).stdout;
    assert.ok(shown.includes("WEB_TOKEN") && !shown.includes("sk-very-secret-value"), shown);
    const tried = await run(["mcp", "test", "web"], { env });
    assert.equal(tried.code, 1);
    assert.match(tried.stdout, /web {2}failed: .*WEB_TOKEN is not set/);
  });

  it("writes a project's servers for everybody, and says that they wait for trust", async () => {
    const env = { OUTRIDER_HOME: tempFolder() };
    const cwd = tempFolder();
    const added = await run(["mcp", "add", "--scope", "project", "x", "npx", "--", "-y", "some-server"], { env, cwd });
    assert.match(added.stdout, /when the project is trusted/);
    assert.deepEqual(readJson(join(cwd, ".mcp.json")), {
      mcpServers: { x: { type: "stdio", command: "npx", args: ["-y", "some-server"] } },
    });
    assert.match((await run(["mcp", "list"], { env, cwd })).stdout, /does not start \(the project is not trusted\)/);
    assert.equal((await run(["mcp", "remove", "x"], { env, cwd })).code, 0);
  });

  const wrong: [words: string[], said: RegExp][] = [
    [["add", "x"], /needs a name, and a command/],
    [["add", "x", "https://h", "--transport", "stdio"], /is an address/],
    [["add", "x", "tool", "--transport", "http"], /needs an http or https address/],
    [["add", "x", "https://h", "-e", "A=b"], /--env is for servers that are programs/],
    [["add", "x", "tool", "--scope", "global"], /--scope cannot be "global"/],
    [["add", "--scop", "user", "x", "tool"], /did you mean --scope\?/],
    [["add", "__", "tool"], /no letter or digit/],
    [["add-json", "x", "{"], /needs a JSON object/],
    [["add-json", "x", "{}"], /command must be/],
  ];
  for (const [words, said] of wrong) {
    it(`refuses ${words.join(" ")} and writes nothing`, async () => {
      const env = { OUTRIDER_HOME: tempFolder() };
      const { code, stderr } = await run(["mcp", ...words], { env });
      assert.match(stderr, said);
      assert.ok(code === 64 || code === 78, String(code));
      assert.equal(existsSync(join(env.OUTRIDER_HOME, "settings.json")), false);
    });
  }
});

describe("Claude Code's variables", () => {
  it("shape the requests of a run, and flags win over them", async () => {
    const { env, server } = await model(() => ({ text: "ok" }), tempFolder());
    const variables = { ...env, CLAUDE_CODE_MAX_OUTPUT_TOKENS: "5000", MAX_THINKING_TOKENS: "2048" };
    await run(["-p", "x", "--model", "claude-sonnet-4-6"], { env: variables });
    await run(["-p", "x", "--model", "claude-sonnet-4-6", "--max-tokens", "6000"], { env: variables });
    await run(["-p", "x", "--model", "claude-sonnet-4-6"], {
      env: { ...env, MAX_THINKING_TOKENS: "0", CLAUDE_CODE_MAX_OUTPUT_TOKENS: "?" },
    });
    const bodies = server.requests.map(({ body }) => body as { max_tokens: number; thinking?: { budget_tokens: number } });
    assert.deepEqual(
      bodies.map(({ max_tokens, thinking }) => [max_tokens, thinking?.budget_tokens]),
      [
        [5000, 2048],
        [6000, 2048],
        [bodies[2]?.max_tokens, undefined],
      ],
    );
  });
});

describe("doctor", () => {
  const states = (stdout: string): Record<string, string> =>
    Object.fromEntries((JSON.parse(stdout) as { about: string; state: string }[]).map(({ about, state }) => [about, state]));

  it("finds everything well where it is", async () => {
    const home = tempFolder();
    const { env } = await model(({ method }) => (method === "GET" ? { body: { data: [{ id: "m" }] } } : { text: "ok" }), home);
    await run(["mcp", "add", "ev", process.execPath, everything, "stdio"], { env });
    const { code, stdout } = await run(["doctor", "--json"], { env });
    const found = states(stdout);
    assert.deepEqual(
      [code, found["node"], found["provider"], found["home"], found["mcp"], found["bash"]],
      [0, "ok", "ok", "ok", "ok", "ok"],
    );
  });

  it("says what is wrong, and what to do", async () => {
    const [home, project] = [tempFolder(), tempFolder()];
    mkdirSync(join(project, ".outrider"));
    writeFileSync(join(project, ".outrider", "settings.json"), '{"permissions":{"alow":[]}}');
    const env = { OUTRIDER_HOME: home };
    await run(["mcp", "add", "gone", "/no/such/program"], { env, cwd: tempFolder() });
    const { code, stdout } = await run(["doctor"], { env, cwd: project });
    assert.equal(code, 78);
    assert.match(stdout, /^wrong +provider +No model provider is configured\n +The three quickest ways/m);
    assert.match(stdout, /^wrong +settings .*alow/m);
    const elsewhere = await run(["doctor", "--json"], { env, cwd: tempFolder() });
    assert.equal(states(elsewhere.stdout)["mcp"], "wrong");
    assert.deepEqual(Object.hasOwn(states((await run(["doctor", "--offline", "--json"], { env })).stdout), "provider"), false);
  });

  it("tells of a home that cannot be written", { skip: process.getuid?.() === 0 }, async () => {
    const home = tempFolder();
    chmodSync(home, 0o500);
    const { stdout } = await run(["doctor", "--offline"], { env: { OUTRIDER_HOME: join(home, "inner") } });
    assert.match(stdout, /^wrong +home .*cannot be written/m);
  });
});

describe("a search", () => {
  it("is made by the ripgrep that is installed with the command", async () => {
    const cwd = tempFolder();
    writeFileSync(join(cwd, "a.txt"), "needle\n");
    // Only ripgrep knows such classes, and there is none on this PATH.
    const input = { pattern: "^[[:alpha:]]+$", output_mode: "content" };
    const turns = [{ calls: [{ name: "Grep", input }] }, { text: "done" }];
    const { env, server } = await model([...turns, ...turns], tempFolder());
    const path = tempFolder();
    // What the standalone command has unpacked at home is not there in the sandbox.
    const places = isStandalone ? ["off"] : ["off", "auto"];
    for (const place of places) {
      const { code, stderr } = await run(["-p", "go", "--cwd", cwd, "--sandbox", place], { env: { ...env, PATH: path } });
      assert.equal(code, 0, stderr);
    }
    const answers = server.requests.filter((_, index) => index % 2 === 1).map(({ body }) => JSON.stringify(body));
    assert.deepEqual(
      answers.map((answer) => answer.includes("a.txt:1:needle")),
      places.map(() => true),
    );
    const { stdout } = await run(["doctor", "--offline", "--json"], { env: { ...env, PATH: path } });
    const found = (JSON.parse(stdout) as Record<string, string>[]).find(({ about }) => about === "ripgrep");
    assert.match(`${found?.["state"]} ${found?.["says"]}`, /^ok ripgrep \d.*(bin\/rg|cache\/rg-\w+)\)$/);
  });
});
