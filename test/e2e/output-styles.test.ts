import assert from "node:assert/strict";
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { lines, model, run, tempFolder } from "./command.ts";

type Files = Readonly<Record<string, string | object>>;

/** A home and a project with these files; what a run tells the model, and what it says itself. */
async function place(files: Files) {
  const top = realpathSync(tempFolder("styles"));
  const cwd = join(top, "project");
  mkdirSync(join(cwd, ".git"), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  const { server, env } = await model(() => ({ text: "done" }), join(top, "home/.outrider"));
  const outrider = async (...args: string[]) => {
    const ended = await run(args, { cwd, env: { ...env, HOME: join(top, "home"), OUTRIDER_OWNER_COMMANDS: "1" } });
    const system = JSON.stringify((server.requests.at(-1)?.body as { system?: unknown } | undefined)?.system ?? "");
    return { ...ended, system };
  };
  return { top, outrider };
}

const stream = ["-p", "go", "--output-format", "stream-json", "--verbose"];
const settings = (outputStyle: string, more: object = {}) => ({ "home/.outrider/settings.json": { outputStyle, ...more } });
const style = (text: string, head = "") => `---\nname: Terse\ndescription: short\n${head}---\n${text}\n`;
const styleOf = (stdout: string): unknown => lines(stdout).find(({ subtype }) => subtype === "init")?.["output_style"];

describe("an output style", () => {
  it("ends our prompt, and takes the place of our words on code unless it keeps them", async () => {
    const { outrider } = await place({ ...settings("Terse"), "home/.claude/output-styles/x.md": style("STYLE WORDS") });
    const { system, stdout } = await outrider(...stream, "--append-system-prompt", "APPENDED");
    assert.match(system, /STYLE WORDS\\n\\nAPPENDED"/);
    assert.match(system, /A refused call stays refused/);
    assert.doesNotMatch(system, /reproduce a bug before you fix it|# Your final message/);
    assert.equal(styleOf(stdout), "Terse");
    const keeping = await place({
      ...settings("terse"),
      "home/.outrider/output-styles/x.md": style("STYLE WORDS", "keep-coding-instructions: true\n"),
    });
    assert.match((await keeping.outrider(...stream)).system, /reproduce a bug before you fix it.*STYLE WORDS/);
  });

  it("may be one of ours, and none is told with a word", async () => {
    const { outrider } = await place(settings("concise"));
    const { system, stdout } = await outrider(...stream);
    assert.match(system, /Style of answers: Concise/);
    assert.equal(styleOf(stdout), "Concise");
    const unknown = await place(settings("Concis"));
    const ended = await unknown.outrider(...stream);
    assert.match(ended.stdout, /There is no output style \\"Concis\\"; did you mean Concise\?/);
    assert.deepEqual([styleOf(ended.stdout), ended.code], ["default", 0]);
  });

  it("of a project counts where the project is trusted", async () => {
    const { outrider } = await place({
      ...settings("Terse"),
      "project/.claude/output-styles/a.md": style("PROJECT WORDS"),
      "home/.claude/output-styles/a.md": style("USER WORDS"),
    });
    const untrusted = await outrider(...stream);
    assert.match(untrusted.system, /USER WORDS/);
    assert.match(untrusted.stdout, /The output styles of the project count once it is trusted/);
    assert.match((await outrider(...stream, "--trust-project")).system, /PROJECT WORDS/);
  });

  it("of a plugin has the plugin's name, and counts by itself where it insists", async () => {
    const { top, outrider } = await place({
      ...settings("demo:Terse"),
      "demo/.claude-plugin/plugin.json": { name: "demo" },
      "demo/output-styles/a.md": style("PLUGIN WORDS"),
      "forced/.claude-plugin/plugin.json": { name: "forced" },
      "forced/output-styles/a.md": style("FORCED WORDS", "force-for-plugin: true\n"),
    });
    assert.match((await outrider(...stream, "--plugin-dir", join(top, "demo"))).system, /PLUGIN WORDS/);
    const both = await outrider(...stream, "--plugin-dir", join(top, "demo"), "--plugin-dir", join(top, "forced"));
    assert.match(both.system, /FORCED WORDS/);
    assert.equal(styleOf(both.stdout), "forced:Terse");
  });

  it("is listed and chosen by a command, for the sessions that begin from then on", async () => {
    const { top, outrider } = await place({ "home/.claude/output-styles/x.md": style("STYLE WORDS") });
    const listed = (await outrider("-p", "/output-style")).stdout;
    assert.match(listed, /^\* default: Ours\n.*Concise.*\n[\s\S]* {2}Terse: short\n$/);
    assert.match((await outrider("-p", "/output-style terse")).stdout, /The output style is Terse from the next session on/);
    assert.match((await outrider(...stream)).system, /STYLE WORDS/);
    await outrider("-p", "/output-style default");
    assert.deepEqual(JSON.parse(readFileSync(join(top, "home/.outrider/settings.json"), "utf8")), {});
    assert.match((await outrider("-p", "/output-style nothing")).stderr, /There is no output style nothing/);
  });
});
