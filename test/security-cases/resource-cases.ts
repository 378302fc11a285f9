import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { ModelRequest } from "../../packages/runtime/src/model/model.ts";
import { createScriptedProvider, type ScriptedReply } from "../../packages/runtime/src/model/scripted.ts";
import { textOf } from "../../packages/runtime/src/protocol/content.ts";
import { cast, eventsOf, handsOut, openStage, task } from "../support/subagent-stage.ts";
import { InteractiveSession } from "../../packages/runtime/src/session/interactive-session.ts";
import { parseJsonObject } from "../../packages/runtime/src/settings/json-text.ts";
import { bashTool } from "../../packages/runtime/src/tools/builtin/bash.ts";
import { createGrepTool } from "../../packages/runtime/src/tools/builtin/grep.ts";
import { readTool } from "../../packages/runtime/src/tools/builtin/read.ts";
import { checkInput } from "../../packages/runtime/src/tools/input.ts";
import { createToolBench, type ToolBench } from "../support/tool-bench.ts";
import { detectSandbox } from "../../packages/runtime/src/workspace/detect-sandbox.ts";
import { bin, launcher, processesWith } from "../e2e/command.ts";
import { type CaseTable, folderFor } from "./case-table.ts";
import { runIn } from "../support/sandbox-place.ts";
import { openBox } from "./sandbox-cases.ts";
import { runScripted } from "./scripted-run.ts";

export const resourceCases: CaseTable = {
  async RS003(_one, test) {
    const sandbox = await detectSandbox();
    if (!sandbox.available) return test.skip(`no sandbox on this machine: ${sandbox.reason}`);
    const { workspace } = await openBox(test, { limits: { processes: 60 } });
    const { result } = await runIn(workspace, ":(){ :|:& };: 2>/dev/null; sleep 987651.5", { timeoutMs: 1500 });
    assert.deepEqual(result, { end: "timeout" });
    await gone("987651.5");
    assert.equal((await runIn(workspace, "echo still working")).output, "still working\n");
  },

  async RS004(_one, test) {
    const bench = benchFor(test);
    await bench.say(bashTool, {
      command: "(setsid sleep 987652.5 >/dev/null 2>&1 &); (setsid bash -c 'sleep 987652.5 & disown' >/dev/null 2>&1 &)",
    });
    await bench.workspace.close();
    await gone("987652.5");
  },

  async RS007(_one, test) {
    const bench = benchFor(test);
    const before = process.memoryUsage().rss;
    const output = await bench.call(bashTool, { command: "head -c 2G /dev/zero | tr '\\0' 'a'", timeout: 300_000 });
    const text = textOf(output.content);
    assert.ok(text.length < 100_000, `${text.length} characters are shown`);
    assert.match(text, /characters omitted/);
    assert.ok(process.memoryUsage().rss - before < 600 * 1024 * 1024);
  },

  async RS008(_one, test) {
    const bench = benchFor(test);
    bench.write("line.txt", `${"a".repeat(1_000_000)}b\n`);
    // With ripgrep, and without it, where JavaScript's expressions are stopped by a clock.
    for (const ripgrep of [true, false]) {
      const startedAt = performance.now();
      const said = await bench.say(createGrepTool({ ripgrep }), { pattern: "(a|aa)+$", path: "line.txt" });
      assert.match(said, /No |takes too long/i);
      assert.ok(performance.now() - startedAt < 20_000, said);
    }
  },

  async RS010(_one, test) {
    const bench = benchFor(test);
    const path = bench.write("large.txt", "first\n");
    for (let part = 0; part < 20; part++) appendFileSync(path, "y".repeat(5_000_000));
    for (let part = 0; part < 10; part++) appendFileSync(path, "\nline".repeat(100_000));
    const said = await bench.say(readTool, { file_path: "large.txt", limit: 4 });
    assert.match(
      said,
      /^ {5}1\tfirst\n {5}2\ty+… \[line cut: it has 100000000 bytes\]\n {5}3\tline\n {5}4\tline\n\[Lines 1 to 4 of a file of /,
    );
    assert.ok(said.length < 5_000);
    assert.match(await bench.say(readTool, { file_path: "large.txt", offset: 1_000_000 }), /^1000000\tline\n/);
  },

  async RS011(_one, test) {
    const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    for (const text of [deep(100_000), '{"a":1,"a":2}', '{"a":1e999999}']) {
      assert.throws(() => parseJsonObject(text, "settings.json"), { code: "config" }, text.slice(0, 40));
    }
    const keys = Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join();
    const many = await runScripted(test, { files: { "~/.outrider/settings.json": `{${keys}}` }, prompt: ["config"] });
    assert.deepEqual([many.code, many.requests.length], [78, 0], many.stderr.slice(0, 300));
    const schema = { type: "object", properties: { a: { type: "object" } }, additionalProperties: false } as const;
    const nested: unknown = JSON.parse(deep(100_000));
    const checked = await checkInput(schema, { a: nested });
    assert.match(checked.ok ? "" : checked.message, /nested more than/);
    const wide = await checkInput(schema, Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 1])));
    assert.ok(!wide.ok && wide.message.length < 20_000);
  },

  async RS014(_one, test) {
    const folder = folderFor(test);
    const tooLong = { fail: { code: "context-overflow" as const, message: "the prompt is too long" } };
    const provider = createScriptedProvider(
      Array.from({ length: 50 }, () => tooLong),
      { contextWindow: 1_000 },
    );
    const session = new InteractiveSession({ cwd: folder, provider, overflowDirectory: join(folder, "overflow") });
    test.after(() => session.shutdown());
    const attempts: string[] = [];
    const reading = (async () => {
      for await (const { type } of session.events({ whenFull: "wait" })) attempts.push(type);
    })();
    const outcomes = [await session.submit("word ".repeat(3_000)), await session.submit("again ".repeat(3_000))];
    await session.shutdown();
    await reading;
    const started = attempts.filter((type) => type === "compaction.started").length;
    assert.ok(started <= 6, `${started} attempts in two turns`);
    assert.ok(provider.requests.length < 50, `${provider.requests.length} calls`);
    assert.ok(
      outcomes.every((outcome) => outcome.type === "failed" && outcome.error.code === "context-overflow"),
      JSON.stringify(outcomes).slice(0, 500),
    );
  },

  async RS015(_one, test) {
    const catalogOverride = { models: [{ provider: "scripted", model: "scripted", price: { input: 0, output: 1_000 } }] };
    const usage = { outputTokens: 20 }; // 2 cents
    const child = (request: ModelRequest): ScriptedReply =>
      request.messages.length > 8 ? { text: "Done.", usage } : { calls: [{ name: "Glob", input: { pattern: "*" } }], usage };
    const provider = cast({ parent: handsOut(task("1"), task("2"), task("3"), task("4")), child });
    const { session, close } = openStage(folderFor(test), provider, { catalogOverride, maxBudgetUsd: 0.1 });
    await session.submit("go");
    const spent =
      eventsOf(await close(), "message.ended").reduce((sum, { message }) => sum + message.usage.outputTokens, 0) / 1_000;
    assert.ok(spent > 0.1 && spent <= 0.12, `${spent} dollars`); // the cap and one call
  },

  async RS016(_one, test) {
    // A file where a folder must be, a folder that is no folder, and a device that is always full.
    const blocked = await runScripted(test, { files: { "~/.outrider": "a file" }, args: ["--output-format", "json"] });
    assert.notEqual(blocked.code, 0);
    assert.match(blocked.stdout + blocked.stderr, /\.outrider/);
    assert.equal(readFileSync(join(blocked.home, ".outrider"), "utf8"), "a file");
    const full = spawnSync("bash", ["-c", `"${launcher}" "${bin}" --help > /dev/full; echo $?`], { encoding: "utf8" });
    assert.match(full.stdout, /^\d+\n$/);
    const limited = folderFor(test);
    const ran = spawnSync(
      "bash",
      [
        "-c",
        `ulimit -f 1; trap '' XFSZ; exec "${launcher}" "${bin}" -p go --provider scripted --model replies.json --output-format json`,
      ],
      {
        cwd: prepareScript(limited),
        encoding: "utf8",
        env: { PATH: process.env["PATH"] ?? "", HOME: limited, OUTRIDER_HOME: join(limited, "state") },
      },
    );
    assert.notEqual(ran.status, 0, "what could not be stored is no success");
    assert.match(ran.stdout + ran.stderr, /storage-failed|could not|cannot|EFBIG|too large/i);
    const journals = existsSync(join(limited, "state/sessions")) ? readdirSync(join(limited, "state/sessions")) : [];
    for (const name of journals.filter((entry) => entry.endsWith(".jsonl"))) {
      const lines = readFileSync(join(limited, "state/sessions", name), "utf8")
        .split("\n")
        .slice(0, -1);
      for (const line of lines) assert.doesNotThrow(() => JSON.parse(line), "no torn line in the middle");
    }
  },

  async RS017(_one, test) {
    const folder = folderFor(test);
    const script = `ulimit -n 64; exec "${launcher}" "${bin}" -p go --provider scripted --model replies.json --output-format json`;
    const ran = spawnSync("bash", ["-c", script], {
      cwd: prepareScript(folder),
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, OUTRIDER_HOME: join(folder, "state") },
    });
    // It works with so few, or says in one result what is missing; it does not crash.
    const result: { type?: string } = JSON.parse(ran.stdout.trim().split("\n").at(-1) ?? "");
    assert.equal(result.type, "result");
    assert.equal(ran.signal, null);
  },
};

function benchFor(test: TestContext): ToolBench {
  const bench = createToolBench();
  test.after(() => bench.close());
  return bench;
}

function prepareScript(folder: string): string {
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "replies.json"), JSON.stringify([{ text: "word ".repeat(2_000) }]));
  return project;
}

async function gone(marker: string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (processesWith(marker).length === 0) return;
    await pause(20);
  }
  assert.fail(`still running: ${processesWith(marker).join(", ")}`);
}
