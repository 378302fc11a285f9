import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { lines, model, type Run, run, tempFolder } from "./command.ts";

type Reply = Parameters<typeof model>[0];
type Fields = Record<string, unknown>;

/** A user whose hooks write down what they are told, and say what they are to say. */
async function place(hooks: Record<string, string>, replies: Reply) {
  const [cwd, home] = [realpathSync(tempFolder("occasions")), tempFolder("occasions-home")];
  const log = join(home, "told");
  const settings = Object.entries(hooks).map(([event, says]) => {
    const command = `in=$(cat); printf '%s\\n' "$in" >> ${log}; ${says}`;
    return [event, [{ hooks: [{ type: "command", command }] }]];
  });
  const { env, server } = await model(replies, home);
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  };
  const told = (): Fields[] => (existsSync(log) ? lines(readFileSync(log, "utf8")) : []);
  const flags = ["--output-format", "stream-json", "--settings", JSON.stringify({ hooks: Object.fromEntries(settings) })];
  const ask = (...args: string[]): Promise<Run> => run(["-p", ...args, ...flags], { cwd, env });
  return { cwd, server, told, ask, write };
}

describe("hooks on the occasions that programs wait for", () => {
  it("SessionStart knows a copy from the session itself, and what there is to go on with", async () => {
    const usage = { inputTokens: 1_000, outputTokens: 20 };
    const { ask, told } = await place({ SessionStart: "true" }, [{ text: "one", usage }, { text: "two" }, { text: "three" }]);
    await ask("one");
    await ask("two", "--continue", "--fork-session");
    await ask("three", "--continue");
    const seen = told().map(
      ({ source, context_tokens, seconds_since_last_response: seconds, prompt_cache_likely_expired: old }) => [
        ...[source, context_tokens, typeof seconds, old],
      ],
    );
    assert.deepEqual(seen, [
      ["startup", undefined, "undefined", undefined],
      ["fork", 1_020, "number", false],
      ["resume", 0, "number", false],
    ]);
  });

  it("what a SessionStart hook says after /compact is read in the next run", async () => {
    const { ask, server } = await place({ SessionStart: `[[ $in == *'"compact"'* ]] && echo MIND-THIS` }, [
      { text: `first answer ${"blah ".repeat(500)}` },
      { text: "the summary" },
      { text: "second" },
    ]);
    await ask("one");
    await ask("/compact", "--continue");
    await ask("two", "--continue");
    const [last] = server.requests.slice(-1).map(({ body }) => (body as { messages: unknown }).messages);
    assert.match(JSON.stringify(last), /the summary[\s\S]*MIND-THIS[\s\S]*two/);
  });

  it("a hook with args, which no shell sees, finds the project", async () => {
    const { cwd, ask, write } = await place({}, [{ text: "ok" }]);
    write("note.sh", 'printf "%s|" "$@" > noted');
    const project = `$\{CLAUDE_PROJECT_DIR}`;
    const args = [`${project}/note.sh`, project, "$HOME", "a b"];
    const hook = { type: "command", command: "bash", args };
    write(".claude/settings.json", JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [hook] }] } }));
    await ask("hi", "--setting-sources", "project");
    assert.equal(readFileSync(join(cwd, "noted"), "utf8"), `${cwd}|$HOME|a b|`);
  });

  it("InstructionsLoaded names the file that brought the instructions in", async () => {
    const read = { calls: [{ name: "Read", input: { file_path: "sub/a.txt" } }] };
    const { cwd, ask, told, write } = await place({ InstructionsLoaded: "true" }, [read, { text: "ok" }]);
    write("sub/CLAUDE.md", "Be brief.");
    write("sub/a.txt", "x");
    await ask("hi");
    const [loaded] = told().filter(({ load_reason }) => load_reason === "nested_traversal");
    assert.deepEqual(
      [loaded?.["file_path"], loaded?.["trigger_file_path"]],
      [join(cwd, "sub/CLAUDE.md"), join(cwd, "sub/a.txt")],
    );
  });
});
