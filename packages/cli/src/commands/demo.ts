import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  createFileStore,
  createScriptedProvider,
  InteractiveSession,
  type ModelRequest,
  type ScriptedReply,
} from "@outrider/runtime";
import { outriderHome, scrubEnvironment, makeFolder } from "@outrider/runtime/host";
import { exitCodes } from "../exit-codes.ts";
import { oneLine } from "../terminal/narrator.ts";
import { chooseDemoProject, type DemoProject } from "./demo-project.ts";

const prompt = "The test suite fails. Find out why, fix it, and show that it passes.";

/** A real run of the real engine on a real project; only the model is a script. Ends with what a person wants to know of any run. */
export async function runDemo(args: readonly string[]): Promise<number> {
  if (args.length > 0) {
    const isHelp = args.every((word) => word === "--help" || word === "-h");
    if (isHelp) process.stdout.write("Usage:\n  outrider demo       show a whole run on a small project: no key, no network\n");
    else process.stderr.write("outrider: demo takes no arguments\n");
    return isHelp ? exitCodes.success : exitCodes.usage;
  }
  const project = chooseDemoProject(process.env["PATH"]);
  const folder = makeProject(project);
  const say = (text: string): void => void process.stdout.write(text);
  process.stdout.on("error", () => {}); // nobody reads any more: the run goes on to its end
  say("Outrider demo: the engine, the tools and the project are real; the model is a script that ships with Outrider.\n");
  say(`Project: ${folder}\nPrompt:  ${prompt}\n\n`);

  const session = new InteractiveSession({
    bare: true, // the same on every machine: nobody's hooks, rules or servers
    sandboxMode: "off",
    cwd: folder,
    provider: createScriptedProvider(
      replies(project, folder).map((reply) => (request: ModelRequest) => ({ ...reply, usage: estimateUsage(request, reply) })),
      { deltaDelayMs: 15 },
    ),
    sessionStore: createFileStore(join(outriderHome(process.env), "sessions")),
    permissionMode: "acceptEdits",
    allowedTools: [`Bash(${project.test})`],
    env: scrubEnvironment(process.env),
  });
  const testRuns: boolean[] = [];
  session.on("text_delta", say);
  session.on("tool_start", () => say("\n"));
  session.on("tool_end", (state) => {
    const mark = state.result === "success" ? "✓" : "✗";
    say(`  ${mark} ${state.toolName} ${oneLine(state.firstArg)}\n${indent(state.toolResultData ?? "")}\n`);
    if (state.toolName === "Bash") testRuns.push(state.result === "success");
  });
  const startedAt = Date.now();
  const outcome = await session.submit(prompt);
  const journal = await session.journalLocation();
  const usage = session.getFullHistory().findLast((entry) => entry.type === "usage-summary");
  await session.shutdown();

  const fixed = outcome.type === "completed" && testRuns[0] === false && testRuns.at(-1) === true;
  say(`\n\n${fixed ? "The project's own tests failed before and pass now." : "The demo did not work as it should."}\n`);
  say(`  changed   ${changedFiles(project, folder).join(", ") || "nothing"}\n`);
  if (usage?.type === "usage-summary")
    say(
      `  tokens    about ${usage.data.promptTokens} in, ${usage.data.completionTokens} out (a script has none: estimated from the text)\n`,
    );
  say(`  took      ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
  say(`  journal   ${journal}\n\nLook at it: jq -c '{seq, type}' ${journal}\n`);
  return fixed ? exitCodes.success : exitCodes.error;
}

function makeProject({ files }: DemoProject): string {
  const folder = mkdtempSync(join(tmpdir(), "outrider-demo-"));
  for (const [name, content] of Object.entries(files)) {
    makeFolder(dirname(join(folder, name)), 0o777);
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

function replies({ test, source, tests, edit, words }: DemoProject, folder: string): ScriptedReply[] {
  const file = join(folder, source);
  return [
    { text: "I'll run the tests to see what fails.", calls: [{ name: "Bash", input: { command: test } }] },
    {
      text: words.found,
      calls: [
        { name: "Read", input: { file_path: file } },
        { name: "Read", input: { file_path: join(folder, tests) } },
      ],
    },
    {
      text: words.reason,
      calls: [{ name: "Edit", input: { file_path: file, old_string: edit.old, new_string: edit.new } }],
    },
    { text: "Now the tests again.", calls: [{ name: "Bash", input: { command: test } }] },
    { text: words.fixed },
  ];
}

function estimateUsage(request: ModelRequest, reply: ScriptedReply): { inputTokens: number; outputTokens: number } {
  const tokens = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4);
  return { inputTokens: tokens([request.system, request.tools, request.messages]), outputTokens: tokens(reply) };
}

function changedFiles({ files }: DemoProject, folder: string): string[] {
  return Object.entries(files)
    .filter(([name, before]) => readFileSync(join(folder, name), "utf8") !== before)
    .map(([name]) => name);
}

function indent(text: string): string {
  const lines = text.trimEnd().split("\n");
  const shown = lines.length > 12 ? [...lines.slice(0, 8), `… ${lines.length - 11} more lines`, ...lines.slice(-3)] : lines;
  return shown.map((line) => `    ${line}`).join("\n");
}
