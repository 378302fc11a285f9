import assert from "node:assert/strict";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { model, run, tempFolder } from "./command.ts";

const files: Readonly<Record<string, string>> = {
  "AGENTS.md": "PLAIN WORDS @docs/part.md",
  "CLAUDE.md": "CLAUDE WORDS",
  "docs/part.md": "IMPORTED WORDS",
  ".outrider/memory/MEMORY.md": "MEMORY WORDS",
  ".agents/tasks/one.md": "# TASK WORDS",
  "below/AGENTS.md": "NESTED WORDS",
  "below/a.txt": "a file",
};

/** Everything a model is sent in a run that reads a file below, as one text. */
async function sentWith(args: readonly string[], settings: object = {}): Promise<string> {
  const top = realpathSync(tempFolder("texts"));
  const cwd = join(top, "project");
  mkdirSync(join(cwd, ".git"), { recursive: true });
  mkdirSync(join(top, "home/.outrider"), { recursive: true });
  writeFileSync(join(top, "home/.outrider/settings.json"), JSON.stringify(settings));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), content);
  }
  mkdirSync(join(top, "plugin/.claude-plugin"), { recursive: true });
  writeFileSync(
    join(top, "plugin/.claude-plugin/plugin.json"),
    JSON.stringify({ name: "strict", permissions: { deny: ["Read(./CLAUDE.md)"] } }),
  );
  symlinkSync(join(top, "plugin"), join(cwd, "strict"));
  const replies = [{ calls: [{ name: "Read", input: { file_path: "below/a.txt" } }] }, { text: "done" }];
  const { server, env } = await model(replies, join(top, "home/.outrider"));
  const ended = await run(["-p", "go", ...args], { cwd, env: { ...env, HOME: join(top, "home") } });
  assert.equal(ended.code, 0, ended.stderr);
  return JSON.stringify(server.requests.map(({ body }) => body));
}

const wordsIn = (text: string): string[] => [...new Set(text.match(/[A-Z]+ WORDS/g))].sort();
const all = ["CLAUDE", "IMPORTED", "MEMORY", "NESTED", "PLAIN", "TASK"].map((word) => `${word} WORDS`);
const without = (...words: string[]): string[] => all.filter((text) => !words.some((word) => text.startsWith(word)));

describe("what a session begins with", () => {
  const cases: readonly (readonly [string, readonly string[], object, readonly string[]])[] = [
    ["everything, where nothing is forbidden", [], {}, all],
    ["no import that a rule of settings forbids", [], { permissions: { deny: ["Read(./docs/**)"] } }, without("IMPORTED")],
    ["no file that a flag forbids", ["--disallowedTools", "Read(./AGENTS.md)"], {}, without("PLAIN", "IMPORTED", "NESTED")],
    ["no memory", ["--disallowedTools", "Read(./.outrider/**)"], {}, without("MEMORY")],
    ["no task file", ["--disallowedTools", "Read(.agents/**)"], {}, without("TASK")],
    ["no file of a folder below", ["--disallowedTools", "Read(./below/AGENTS.md)"], {}, without("NESTED")],
    ["no file that would have to be asked about", [], { permissions: { ask: ["Read(./CLAUDE.md)"] } }, without("CLAUDE")],
    ["no file that a plugin forbids", ["--plugin-dir", "strict"], {}, without("CLAUDE")],
    ["the files also where the tool that reads is taken away", ["--disallowedTools", "Read"], {}, without("NESTED")],
  ];
  for (const [name, args, settings, expected] of cases)
    it(name, async () => assert.deepEqual(wordsIn(await sentWith(args, settings)), expected));
});
