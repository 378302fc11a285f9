import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { bin, launcher, model, projectRoot, run, tempFolder } from "./command.ts";

/** Commands that a reader is shown and that are not typed here, by how they begin: why. */
const untyped: Readonly<Record<string, string>> = {
  'outrider -p "…" --model openai/gpt-5.5': "asks a provider that is not on this machine",
  'outrider -p "…" --model openrouter/': "asks a provider that is not on this machine",
  'outrider -p "…" --provider house': "asks the provider of the line before, which is not on this machine",
  "outrider mcp add files npx": "starts a package of the registry; the next lines are typed without it",
  "outrider mcp test": "reaches servers of the examples, which do not exist",
  "outrider mcp list": "reaches servers of the examples, which do not exist",
  "outrider mcp remove files": "takes out the server that was not added",
  "outrider mcp login tracker": "opens a browser",
  "outrider mcp logout tracker": "says that nobody is logged in",
  "outrider serve": "serves until it is ended",
  'outrider -p "Say hello" --provider scripted --model hello.json':
    "needs the files of its page; test/e2e/replay.test.ts has them",
  'outrider -p "Say hello" --replay monday': "needs the files of its page; test/e2e/replay.test.ts has them",
  'outrider -p "any question" --provider scripted': "needs the files of its page; test/e2e/replay.test.ts has them",
  "outrider fleet": "needs the engine's server, which is installed by who uses it; test/fleet has it",
  "outrider batch tasks.jsonl --engine restate": "needs the engine of the line before",
  "outrider replay run.json --step": "needs somebody who presses keys; test/e2e/replay-command.test.ts does",
  "outrider trajectory export SESSION --format otlp |": "needs a collector; test/e2e/traces.test.ts has one",
  "outrider worktrees merge parser": "merges work that nobody has done; test/e2e/worktrees.test.ts does",
};

/** Words that stand for something of the reader's own, and what they are here. */
const given: readonly (readonly [string, string])[] = [
  ["npx outrider", "outrider"],
  ["[--forget]", ""],
  ["[NAME]", "npm"],
  ["SESSION", "first"],
  ["report DIR", "report ../home/.outrider/sessions"],
  ["compare A B", "compare first first"],
  ["a.json b.json", "run/trajectory.json run/trajectory.json"],
  ["--resume-session-at 24", "--resume-session-at 22"],
];

/** Exit codes that are the point of a line: the provider that was added before it does not answer, or nobody sits at a terminal here. */
const codes: Readonly<Record<string, number>> = {
  "outrider doctor": 78,
  outrider: 66,
  "outrider --resume SESSION": 66,
  "outrider --model opus --permission-mode acceptEdits": 66,
};

const documents = [
  "README.md",
  ...readdirSync(join(projectRoot, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];
const used = new Set<string>();

describe("every command that a reader is shown", { timeout: 600_000 }, () => {
  for (const document of documents) {
    const printed = commandsIn(readFileSync(join(projectRoot, document), "utf8"));
    const typed = printed.filter((command) => !excuse(command, untyped));
    if (typed.length === 0) continue;
    it(`${document}: ${typed.length} of ${printed.length} do what they say when they are typed`, async () => {
      const type = await sitDown();
      const wrong = [];
      for (const command of typed) {
        const line = given.reduce((text, [word, meant]) => text.replaceAll(word, meant), command);
        const { code, stderr } = await type(line);
        const expected = codes[excuse(command, codes) ?? ""] ?? 0;
        if (code !== expected) wrong.push(`${command}: exit code ${code}: ${stderr.slice(0, 300)}`);
      }
      assert.deepEqual(wrong, []);
    });
  }

  it("is typed, or the reason why not is about one that is still shown", () => {
    for (const document of documents)
      for (const command of commandsIn(readFileSync(join(projectRoot, document), "utf8")))
        excuse(command, { ...untyped, ...codes });
    assert.deepEqual(
      Object.keys({ ...untyped, ...codes }).filter((start) => !used.has(start)),
      [],
    );
  });
});

function excuse(command: string, table: Readonly<Record<string, unknown>>): string | undefined {
  const found = Object.keys(table).find((start) => command === start || (start !== "outrider" && command.startsWith(start)));
  if (found !== undefined) used.add(found);
  return found;
}

/** Lines behind a `$`, or those of a block for the shell that begin with our name; one that is not closed goes on in the next. */
function commandsIn(text: string): string[] {
  const blocks = [...text.matchAll(/^```(\w*)\n(.*?)^```/gms)];
  return blocks.flatMap(([, language = "", body = ""]) => {
    if (!["", "sh", "bash", "console"].includes(language)) return [];
    const lines = body.split("\n");
    return lines.flatMap((line, at) => {
      const command = line.replace(/^\$ /, "");
      if (!/^(npx )?outrider /.test(command) || (language === "console" && command === line)) return [];
      let whole = command;
      for (let next = at + 1; isOpen(whole) && next < lines.length; next++) whole += `\n${lines[next]}`;
      return [whole.replace(/\s+# .*$/, "").replace(/^npx /, "")];
    });
  });
}

function isOpen(command: string): boolean {
  return command.endsWith("\\") || (command.match(/'/g)?.length ?? 0) % 2 === 1;
}

/** A newcomer's machine: a home with nothing in it, a small project under git, our command on the path, and a model that says yes, in a session with three changes. */
async function sitDown(): Promise<(line: string) => Promise<{ code: number | null; stderr: string }>> {
  const top = tempFolder("newcomer");
  const [home, cwd, path] = [join(top, "home"), join(top, "project"), join(top, "bin")];
  for (const folder of [home, cwd, path, join(home, "projects")]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(path, "outrider"), `#!/bin/sh\nexec "${launcher}" "${bin}" "$@"\n`);
  chmodSync(join(path, "outrider"), 0o755);
  const { env } = await model(
    ({ body }) => {
      const { messages } = body as { messages: readonly unknown[] }; // sent by the command under test
      const isAsked = JSON.stringify(messages.at(-1)).includes("write it down");
      return isAsked
        ? { calls: [{ name: "Write", input: { file_path: `note-${messages.length}`, content: "x" } }] }
        : { text: "Yes." };
    },
    join(home, ".outrider"),
  );
  const files = {
    "package.json": JSON.stringify({ name: "small", scripts: { test: "true" } }),
    "README.md": "# Small\n",
    "tasks.jsonl": '{"id":"1","prompt":"Is it small?"}\n{"id":"2","prompt":"Is it large?"}\n',
    "issues.csv": "id,title\n1,Small\n2,Large\n",
    "cases.jsonl": `${JSON.stringify({ id: "1", area: "bash", given: {}, input: { tool: "Bash", input: { command: "ls" } }, expected: "allow" })}\n`,
    "screen.png": Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    ),
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(cwd, name), content);
  const type = (line: string): Promise<{ code: number | null; stderr: string }> =>
    new Promise((resolve) => {
      const child = spawn("bash", ["-c", line], {
        cwd,
        env: { ...env, HOME: home, PATH: `${path}:${process.env["PATH"] ?? ""}` },
        stdio: ["ignore", "ignore", "pipe"],
      });
      let stderr = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
      });
      child.on("close", (code) => resolve({ code, stderr }));
    });
  const git = "git -c user.name=x -c user.email=x@example.invalid -c init.defaultBranch=main";
  await type(`${git} init -q && ${git} add -A && ${git} commit -qm small`);
  for (const session of ["--name", "--resume", "--resume"])
    await run(["-p", "write it down", session, "first", "--permission-mode", "acceptEdits"], {
      cwd,
      env: { ...env, HOME: home },
    });
  return type;
}
