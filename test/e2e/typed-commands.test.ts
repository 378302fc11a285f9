import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { lines, model, run, tempFolder } from "./command.ts";

const userLine = (text: string) =>
  `${JSON.stringify({ type: "user", message: { role: "user", content: [{ type: "text", text }] } })}\n`;

async function ground(replies: { text: string }[]) {
  const top = tempFolder("typed");
  const cwd = join(top, "project");
  mkdirSync(cwd);
  const { server, env } = await model(replies, join(top, "home/.outrider"));
  return { cwd, server, env: { ...env, HOME: join(top, "home"), OUTRIDER_OWNER_COMMANDS: "1" } };
}

async function place(replies = [{ text: "1" }, { text: "2" }]) {
  const { cwd, server, env } = await ground(replies);
  const outrider = (args: readonly string[], stdin?: string) => run(args, { cwd, env, ...(stdin !== undefined && { stdin }) });
  return { cwd, outrider, models: () => server.requests.map(({ body }) => (body as { model: string }).model) };
}

describe("what is typed in a session", () => {
  it("a word behind a slash that names no command is a prompt where Claude Code's way is asked for, and screens stay screens", async () => {
    const { cwd, env, server } = await ground([{ text: "from the model" }]);
    const typed = async (prompt: string, more: Record<string, string>) => {
      const { code, stdout } = await run(["-p", prompt], { cwd, env: { ...env, ...more } });
      return [code, stdout];
    };
    const claude = { OUTRIDER_CLAUDE_COMMANDS: "1" };
    assert.deepEqual(await typed("/nosuch thing", {}), [64, ""]);
    assert.deepEqual(await typed("/nosuch thing", claude), [0, "from the model\n"]);
    assert.deepEqual(await typed("/login", claude), [0, "/login isn't available in this environment.\n"]);
    assert.equal(server.requests.length, 1);
  });

  it("the last of several blocks may call a skill, whose text stands behind the others", async () => {
    const { cwd, env, server } = await ground([{ text: "ok" }, { text: "ok" }]);
    mkdirSync(join(cwd, ".claude/commands"), { recursive: true });
    writeFileSync(join(cwd, ".claude/commands/fix.md"), "Fix $ARGUMENTS.\n");
    const line = (...texts: string[]) =>
      `${JSON.stringify({ type: "user", message: { role: "user", content: texts.map((text) => ({ type: "text", text })) } })}\n`;
    const flags = ["--input-format", "stream-json", "--output-format", "stream-json", "--trust-project"];
    const stdin = line("What CI said.", "/fix the build") + line("/fix the build", "and no more");
    assert.equal((await run(["-p", ...flags], { cwd, env, stdin })).code, 0);
    const textsOf = (index: number) => {
      const body = server.requests[index]?.body as { messages: { role: string; content: { text: string }[] }[] } | undefined;
      return body?.messages.findLast(({ role }) => role === "user")?.content.map(({ text }) => text);
    };
    const [context, marks, words] = textsOf(0) ?? [];
    assert.deepEqual([context, words], ["What CI said.", "Fix the build.\n"]);
    assert.match(marks ?? "", /<command-name>\/fix</);
    assert.deepEqual(textsOf(1), ["/fix the build", "and no more"]);
  });

  it("/model knows the words that --model knows", async () => {
    const { outrider, models } = await place();
    const typed = ["/model haiku", "one", "/model claude-opus-5-5", "two"].map(userLine).join("");
    const ended = await outrider(["-p", "--input-format", "stream-json", "--output-format", "stream-json"], typed);
    const said = lines(ended.stdout).flatMap(({ type, result }) => (type === "result" ? [String(result)] : []));
    assert.match(said[0] ?? "", /^The model is claude-haiku-\S+ now$/);
    assert.match(models()[0] ?? "", /^claude-haiku-/);
    assert.equal(models()[1], "claude-opus-5-5");
  });

  it("/user-local and outrider user-local are the same, and leave the project alone", async () => {
    const { outrider, cwd } = await place();
    const words = ["memory", "set", "view-preference", "theme", "dark"];
    const set = await outrider(["user-local", ...words]);
    assert.equal(set.stdout, 'view-preference theme = "dark"\n', set.stderr);
    assert.equal((await outrider(["-p", "/user-local memory list"])).stdout, set.stdout);
    const storage = JSON.parse((await outrider(["user-local", "storage", "list", "--format", "json"])).stdout) as {
      categories: unknown[];
    };
    assert.equal(storage.categories.length, 6);
    assert.match((await outrider(["user-local", "bogus"])).stderr, /user-local takes storage list; memory list/);
    assert.deepEqual(readdirSync(cwd), []);
  });

  it("/agent run is a turn with the answer of the agent", async () => {
    const { outrider } = await place([{ text: "from the agent" }]);
    const ended = await outrider(["-p", "/agent run Explore look"]);
    assert.deepEqual([ended.code, ended.stdout], [0, "from the agent\n"]);
    const unknown = await outrider(["-p", "/agent run Explor look"]);
    assert.match(unknown.stderr, /There is no agent Explor; did you mean Explore\?/);
  });

  it("/agent parallel has several at work, and their answers stand under their names", async () => {
    const { outrider } = await place([{ text: "said by one" }, { text: "said by one" }]);
    const ended = await outrider(["-p", "/agent parallel Explore look here ;; general-purpose and there"]);
    assert.deepEqual([ended.code, ended.stdout], [0, "## Explore\n\nsaid by one\n\n## general-purpose\n\nsaid by one\n"]);
    assert.match((await outrider(["-p", "/agent parallel Explore a ;; Nobody b"])).stderr, /There is no agent Nobody/);
    assert.match((await outrider(["-p", "/agent parallel --dettach Explore a"])).stderr, /does not take --dettach/);
    assert.match((await outrider(["-p", "/agent wait nothing"])).stderr, /nothing/);
    assert.match((await outrider(["-p", "/agent read nothing 0"])).stderr, /nothing/);
  });

  it("changes nothing beyond the session and loosens no mode where anybody may have typed it", async () => {
    const { cwd, env } = await ground([{ text: "1" }]);
    mkdirSync(join(cwd, "bundle/.claude-plugin"), { recursive: true });
    writeFileSync(join(cwd, "bundle/.claude-plugin/plugin.json"), JSON.stringify({ name: "small", version: "1.0.0" }));
    const { OUTRIDER_OWNER_COMMANDS: _, ...anybody } = env;
    for (const text of [
      "/plugin install ./bundle",
      `/plugin install ./bundle --sha256 sha256:${"0".repeat(64)}`,
      "/plugin marketplace add ./bundle",
      "/language French",
      "/output-style Concise",
      "/provider add mine openai gpt-5.5 MY_KEY",
      "/user-local memory delete x",
    ]) {
      const { code, stderr } = await run(["-p", text], { cwd, env: anybody });
      assert.match(stderr, /changes what holds beyond the session, so a prompt cannot do it/, text);
      assert.notEqual(code, 0);
    }
    assert.equal(existsSync(join(env.HOME, ".outrider/settings.json")), false);
    const looser = await run(["-p", "/mode acceptEdits"], { cwd, env: anybody });
    assert.match(looser.stderr, /The mode acceptEdits is looser than default, and a prompt cannot choose it/);
    assert.equal((await run(["-p", "/mode plan"], { cwd, env: anybody })).code, 0);
    assert.equal((await run(["-p", "/plugin list"], { cwd, env: anybody })).code, 0);
  });

  it("/plugin shows what would run before it installs exactly that, and switches it off and on", async () => {
    const { outrider, cwd } = await place();
    const bundle = join(cwd, "bundle");
    mkdirSync(join(bundle, ".claude-plugin"), { recursive: true });
    mkdirSync(join(bundle, "hooks"));
    writeFileSync(join(bundle, ".claude-plugin/plugin.json"), JSON.stringify({ name: "small", version: "1.0.0" }));
    const hooks = { Stop: [{ hooks: [{ type: "command", command: "run-me" }] }] };
    writeFileSync(join(bundle, "hooks/hooks.json"), JSON.stringify({ hooks }));
    const typed = async (text: string) => await outrider(["-p", text]);
    const asked = await typed("/plugin install ./bundle");
    assert.match(asked.stderr, /hook +Stop: run-me/);
    const [, hash = ""] = /--sha256 (\S+)/.exec(asked.stderr) ?? [];
    assert.equal((await typed("/plugin")).stdout, "No plugin is installed\n");
    assert.match((await typed(`/plugin install ./bundle --sha256 ${"0".repeat(64)}`)).stderr, /was accepted/);
    assert.match((await typed(`/plugin install ./bundle --sha256 ${hash}`)).stdout, /^small@direct 1\.0\.0 is installed/);
    assert.equal((await typed("/plugin list")).stdout, "small@direct 1.0.0 enabled\n");
    await typed("/plugin disable small");
    assert.equal((await typed("/plugin")).stdout, "small@direct 1.0.0 disabled\n");
    assert.match((await typed("/plugin enable other")).stderr, /other is not installed/);
    await typed("/plugin uninstall small@direct");
    assert.equal((await typed("/plugin")).stdout, "No plugin is installed\n");
    assert.equal((await typed("/plugin marketplace")).stdout, "No marketplace is known\n");
    assert.match((await typed("/plugin bogus")).stderr, /There is \/plugin list/);
  });

  it("/provider add keeps the name of a variable, and never a key", async () => {
    const { outrider } = await place();
    const typed = async (text: string) => await outrider(["-p", text]);
    assert.match(
      (await typed("/provider add work openai gpt-5 MY_KEY")).stdout,
      /^work is set up: openai\/gpt-5 with the key in MY_KEY/,
    );
    assert.match((await typed("/provider list")).stdout, /work: openai\/gpt-5/);
    assert.match((await typed("/provider add other openai gpt-5 sk-proj-abcdefghijklmnop")).stderr, /the name of a variable/);
    assert.match((await typed("/provider add other nobody")).stderr, /nobody/);
  });
});
