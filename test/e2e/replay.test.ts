import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import { exitCodeOf } from "../../packages/cli/src/exit-codes.ts";
import { scriptedFailures } from "../../packages/runtime/src/model/scripted.ts";
import { bin, lines, model, projectRoot, type Run, run, tempFolder } from "./command.ts";

const prompt = "Turn one into two and check it";
const rights = ["--sandbox", "off", "--permission-mode", "acceptEdits", "--allowedTools", "Bash(cat:*)", "Bash(pwd)"];
const secret = "hunter2-is-my-token";
const key = "sk-ant-api03-abcdefghijklmnop";

/** Everything the recording is made from; copies of it are what it is replayed in. */
const original = makeProject(tempFolder("original"));
const recorderHome = tempFolder("recorder");
const cassette = join(tempFolder("cassettes"), "c.json");
let recorded: Run;
let sessionId: string;

before(async () => {
  const replies = [
    {
      reasoning: "Two files at once.",
      text: "Looking.",
      calls: [
        { name: "Read", input: { file_path: join(original, "n.txt") } },
        { name: "Read", input: { file_path: join(original, ".env") } },
        { name: "Glob", input: { pattern: "*.txt" } },
      ],
      usage: { inputTokens: 100, outputTokens: 20 },
    },
    { calls: [{ name: "Edit", input: { file_path: join(original, "n.txt"), old_string: "one", new_string: "two" } }] },
    { calls: [{ name: "Bash", input: { command: `cat ${join(original, "n.txt")} && pwd && cat ~/note` } }] },
    { text: `Done in ${original}.`, usage: { inputTokens: 200, outputTokens: 10 } },
  ];
  const { env } = await model(replies, join(recorderHome, "outrider"));
  writeFileSync(join(recorderHome, "note"), `home is ${recorderHome}/x\n`);
  const args = ["-p", prompt, ...rights, "Bash", "--record", cassette, "--output-format", "json"];
  recorded = await run(args, { env: { ...env, HOME: recorderHome, MY_TOKEN: secret }, cwd: original });
  sessionId = String(lines(recorded.stdout)[0]?.["session_id"]);
});

function makeProject(folder: string): string {
  writeFileSync(join(folder, "n.txt"), "one\n");
  writeFileSync(join(folder, "z.txt"), "last\n");
  writeFileSync(join(folder, ".env"), `API=${secret}\nOTHER=${key}\n`);
  return folder;
}

/** Another copy of the project, another home, no key, no server. */
function elsewhere(): { cwd: string; env: Record<string, string> } {
  const cwd = makeProject(tempFolder("a-copy-with-a-much-longer-name"));
  utimesSync(join(cwd, "n.txt"), 1, 1); // Glob lists the newest first
  const home = tempFolder("other-home");
  writeFileSync(join(home, "note"), `home is ${home}/x\n`);
  return { cwd, env: { HOME: home } };
}

const replay = (source: string, extra: readonly string[] = [], place = elsewhere(), words = prompt): Promise<Run> =>
  run(["-p", words, ...rights, "Bash", "--replay", source, ...extra], place);

function result(stdout: string): Record<string, unknown> {
  return lines(stdout)[0] ?? {};
}

function errorOf(stdout: string): { code: string; message: string } {
  return result(stdout)["error"] as { code: string; message: string };
}

describe("--record", () => {
  it("writes a recording that knows neither keys nor this machine", () => {
    assert.equal(recorded.code, 0, recorded.stderr);
    const text = readFileSync(cassette, "utf8");
    for (const hidden of [secret, key, "test-key", original, recorderHome, "127.0.0.1"])
      assert.ok(!text.includes(hidden), hidden);
    assert.match(text, /cat \{\{cwd\}\}\/n\.txt && pwd/);
    assert.match(text, /home is \{\{home\}\}\/x/);
    assert.match(text, /"signature": "scripted-signature"/);
    assert.deepEqual(readdirSync(join(cassette, "..")), ["c.json"]);
  });

  it("holds every message once, however often it was sent", () => {
    const text = readFileSync(cassette, "utf8");
    assert.equal(text.split(prompt).length - 1, 1);
    assert.equal(text.split("You are Outrider, an agent").length - 1, 1);
  });

  it("refuses a place where it cannot be written before anything is asked", async () => {
    const home = tempFolder("home");
    const { env, server } = await model([{ text: "ok" }], home);
    for (const path of ["/no/such/folder/c.json", home]) {
      const { code, stdout } = await run(["-p", "x", "--record", path, "--output-format", "json"], { env });
      assert.deepEqual([code, errorOf(stdout).code, server.requests.length], [78, "storage-failed", 0]);
      assert.equal(lines(stdout).length, 1);
    }
  });

  it("keeps the fallback's answers too", async () => {
    const home = tempFolder("home");
    const file = join(home, "c.json");
    const isFirst = (body: unknown): boolean => JSON.stringify(body).includes('"claude-opus-4-1"');
    const { env } = await model(({ body }) => (isFirst(body) ? { status: 529 } : { text: "from the second" }), home);
    const args = ["-p", "x", "--model", "claude-opus-4-1", "--fallback-model", "claude-sonnet-4-6"];
    assert.equal((await run([...args, "--record", file], { env })).code, 0);
    const again = await run(["-p", "x", "--replay", file, "--fallback-model", "claude-sonnet-4-6"], {
      env: { OUTRIDER_HOME: home },
    });
    assert.deepEqual([again.code, again.stdout], [0, "from the second\n"]);
  });

  it("cannot be had together with --replay", async () => {
    assert.equal((await replay(cassette, ["--record", "x.json"])).code, 64);
  });
});

describe("--replay", () => {
  it("gives the same run in another copy, with another home, without a key", async () => {
    const place = elsewhere();
    const { code, stdout, stderr } = await replay(cassette, ["--output-format", "json"], place);
    assert.equal(code, 0, stderr);
    const now = result(stdout);
    const ofTheRun = (name: string): boolean => !/^(?:uuid|session_id|result)$|_ms$/.test(name);
    const told = (frame: Record<string, unknown>) => Object.entries(frame).filter(([name]) => ofTheRun(name));
    assert.deepEqual(told(now), told(result(recorded.stdout)));
    assert.equal(now["result"], `Done in ${place.cwd}.`);
    assert.equal(readFileSync(join(place.cwd, "n.txt"), "utf8"), "two\n");
    assert.equal(stderr, "");
  });

  it("works in any output format, and a stream has one result, at its end", async () => {
    const { code, stdout } = await replay(cassette, ["--output-format", "stream-json"]);
    const kinds = lines(stdout).map((frame) => frame["type"]);
    assert.deepEqual([code, kinds.filter((kind) => kind === "result").length, kinds.at(-1)], [0, 1, "result"]);
    assert.match(stdout, /"signature":"scripted-signature"/);
    const place = elsewhere();
    assert.equal((await replay(cassette, [], place)).stdout, `Done in ${place.cwd}.\n`);
  });

  it("needs no recording: a session's journal is one, by its id or as a file", async () => {
    const place = elsewhere();
    writeFileSync(join(place.cwd, ".env"), readFileSync(join(original, ".env"))); // a journal hides nothing
    const env = { HOME: recorderHome, OUTRIDER_HOME: join(recorderHome, "outrider") };
    const byId = await replay(sessionId, [], { ...place, env });
    assert.deepEqual([byId.code, byId.stderr], [0, ""]);
    const journal = join(tempFolder("journal"), "run.jsonl");
    const text = readFileSync(join(recorderHome, `outrider/sessions/${sessionId}.jsonl`), "utf8");
    writeFileSync(journal, `${text}{"seq":99,"typ`); // cut off by a crash
    const asFile = await replay(journal, [], {
      cwd: makeProject(tempFolder("copy")),
      env: { ...env, OUTRIDER_HOME: tempFolder() },
    });
    assert.deepEqual([asFile.code, asFile.stderr], [0, ""]);
  });

  it("goes by the real name of a project that was reached by a link", async () => {
    const place = elsewhere();
    const link = join(tempFolder("links"), "link");
    symlinkSync(place.cwd, link);
    const { code, stderr } = await replay(cassette, [], { cwd: link, env: { ...place.env, PWD: link } });
    assert.equal(code, 0, stderr);
  });

  const changes: [string, (place: ReturnType<typeof elsewhere>) => readonly string[] | undefined, RegExp[]][] = [
    [
      "a changed file",
      ({ cwd }) => void writeFileSync(join(cwd, "n.txt"), "one\nmore\n"),
      [/Request 2 differs from the recorded one/, /messages\[2\]\S* \(result of Read\), line 2/, /\+ .*more/],
    ],
    [
      "a changed system prompt",
      () => ["--append-system-prompt", "Be brief."],
      [/Request 1 differs/, / system, line \d+/, /\+ Be brief\./],
    ],
    ["a missing tool", () => ["--disallowed-tools", "WebFetch"], [/tools\.WebFetch was offered, and is not now/]],
    ["another mode", () => ["--permission-mode", "plan"], [/tools\.Edit was offered, and is not now/]],
    ["another setting", () => ["--temperature", "0.5"], [/settings\.temperature\n {4}- \(nothing\)\n {4}\+ 0\.5/]],
    ["another permission", () => ["--permission-mode", "default"], [/Request 3 differs/, /\(result of Edit\)/, /Not permitted/]],
  ];
  for (const [what, change, expected] of changes) {
    it(`exits 65 and shows the place: ${what}`, async () => {
      const place = elsewhere();
      const { code, stdout, stderr } = await replay(cassette, [...(change(place) ?? []), "--output-format", "json"], place);
      assert.equal(code, 65, stderr);
      for (const words of expected) assert.match(stderr, words);
      assert.deepEqual([lines(stdout).length, errorOf(stdout).code], [1, "replay-mismatch"]);
    });
  }

  it("exits 65 on a changed prompt, and with --replay-lenient says so once and goes on", async () => {
    const words = "Turn one into three and check it";
    const strict = await replay(cassette, [], elsewhere(), words);
    assert.equal(strict.code, 65);
    assert.match(
      strict.stderr,
      /messages\[0\]\.content\[0\]\.text\n {4}- Turn one into two and check it\n {4}\+ Turn one into three/,
    );
    const place = elsewhere();
    const lenient = await replay(cassette, ["--replay-lenient"], place, words);
    assert.deepEqual([lenient.code, lenient.stdout], [0, `Done in ${place.cwd}.\n`]);
    assert.equal(lenient.stderr.split("Turn one into three").length - 1, 1, lenient.stderr);
  });

  it("exits 65 when the recording ends before the run, and when the run ends before the recording", async () => {
    const whole = JSON.parse(readFileSync(cassette, "utf8"));
    const folder = tempFolder("parts");
    const short = join(folder, "short.json");
    writeFileSync(short, JSON.stringify({ ...whole, calls: whole.calls.slice(0, 3) }));
    const tooFew = await replay(short, ["--output-format", "json"]);
    assert.equal(tooFew.code, 65);
    assert.match(errorOf(tooFew.stdout).message, /holds 3 answers, and the model was asked once more/);
    const long = join(folder, "long.json");
    writeFileSync(long, JSON.stringify({ ...whole, calls: [...whole.calls, whole.calls.at(-1)] }));
    const tooMany = await replay(long);
    assert.equal(tooMany.code, 65);
    assert.match(tooMany.stderr, /1 more answer/);
    assert.equal((await replay(long, ["--replay-lenient"])).code, 0);
  });

  it("says in the result what its exit code says when answers are left", async () => {
    const whole = JSON.parse(readFileSync(cassette, "utf8"));
    const long = join(tempFolder("long"), "long.json");
    writeFileSync(long, JSON.stringify({ ...whole, calls: [...whole.calls, whole.calls.at(-1)] }));
    const ended = await replay(long, ["--output-format", "json"]);
    assert.deepEqual([ended.code, result(ended.stdout)["is_error"], errorOf(ended.stdout).code], [65, true, "replay-mismatch"]);
  });

  it("exits 78 for what is no recording, a damaged one and one of another version, and 66 for none", async () => {
    const folder = tempFolder("damaged");
    const whole = JSON.parse(readFileSync(cassette, "utf8"));
    const damaged: [string, string, RegExp][] = [
      ["text.json", "hello", /cannot be replayed/],
      ["other.json", '{"a":1}', /no Outrider recording/],
      ["cut.json", JSON.stringify(whole).slice(0, 2000), /cannot be replayed/],
      ["newer.json", JSON.stringify({ ...whole, version: 2 }), /version 2; 1 is known/],
      [
        "hollow.json",
        JSON.stringify({ ...whole, calls: [whole.calls[0], { request: whole.calls[1].request }] }),
        /call 2 has no whole answer/,
      ],
      ["headless.json", JSON.stringify({ ...whole, calls: whole.calls.slice(1) }), /call 1 has no whole request/],
    ];
    for (const [name, text, words] of damaged) {
      writeFileSync(join(folder, name), text);
      const { code, stdout, stderr } = await replay(join(folder, name), ["--output-format", "json"]);
      assert.deepEqual([name, code, errorOf(stdout).code], [name, 78, "config"]);
      assert.match(stderr, words);
    }
    assert.equal((await replay(folder)).code, 78);
    for (const nothing of [join(folder, "nothing.json"), "11111111-2222-3333-4444-555555555555"]) {
      assert.equal((await replay(nothing)).code, 66);
    }
  });
});

describe("a replay", () => {
  it("follows long outputs into their files, whatever these are called in each run", async () => {
    const folder = tempFolder("long");
    writeFileSync(join(folder, "numbers.sh"), 'for i in $(seq 1 20000); do echo "line $i"; done\n');
    const home = tempFolder("h");
    const file = join(tempFolder("c"), "long.json");
    const { env } = await model(
      [
        { calls: [{ name: "Bash", input: { command: "bash numbers.sh" } }] },
        ({ body }) => ({ calls: [{ name: "Read", input: { file_path: overflowPath(body), offset: 9000, limit: 2 } }] }),
        { text: "ok" },
      ],
      home,
    );
    const args = ["-p", "x", "--allowedTools", "Bash"];
    assert.equal((await run([...args, "--record", file], { env, cwd: folder })).code, 0);
    assert.match(readFileSync(file, "utf8"), /whole output is in \{\{overflow:1\}\}/);
    const copy = tempFolder("copy");
    cpSync(folder, copy, { recursive: true });
    const longHome = join(tempFolder("home"), "a-home-with-a-name-that-is-a-good-deal-longer-than-the-other");
    mkdirSync(longHome);
    const { code, stderr } = await run([...args, "--replay", file], { env: { HOME: longHome }, cwd: copy });
    assert.equal(code, 0, stderr);
  });

  it("answers in the form that was asked for, where the provider makes the model do so and where a tool does", async () => {
    const schema = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}';
    const args = ["-p", "count", "--json-schema", schema, "--output-format", "json"];
    const home = tempFolder("h");
    const { env, server } = await model([{ calls: [{ name: "StructuredOutput", input: { n: 3 } }] }, { text: '{"n":4}' }], home);
    const files = ["tool.json", "native.json"].map((name) => join(home, name));
    await run([...args, "--model", "claude-opus-4-1", "--record", String(files[0])], { env }); // does not keep to a schema by itself
    const openai = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${server.url}/v1`, OUTRIDER_HOME: home };
    const native = await run([...args, "--provider", "openai", "--record", String(files[1])], { env: openai });
    assert.equal(native.code, 0, native.stderr);
    for (const [index, file] of files.entries()) {
      const { code, stdout, stderr } = await run([...args, "--replay", file], { env: { OUTRIDER_HOME: home } });
      assert.deepEqual([code, result(stdout)["structured_output"], stderr], [0, { n: index + 3 }, ""]);
      const other = args.with(3, '{"type":"object"}');
      assert.equal((await run([...other, "--replay", file], { env: { OUTRIDER_HOME: home } })).code, 65);
    }
  });
});

function overflowPath(body: unknown): string {
  return /whole output is in (\S+) …/.exec(JSON.stringify(body))?.[1] ?? "";
}

describe("docs/testing-pipelines.md", () => {
  const guide = readFileSync(join(projectRoot, "docs/testing-pipelines.md"), "utf8");
  const example = join(projectRoot, "examples/pipeline-test");
  const blocks = (language: string): string[] =>
    [...guide.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, body = ""]) => (name === language ? [body] : []));

  it("lists every code a scripted reply may fail with, and the exit code of each", () => {
    const rows = [...guide.matchAll(/^\| `([a-z-]+)` +\| .* \| (\d+) +\|$/gm)].map(([, code, exit]) => [code, Number(exit)]);
    const error = { message: "", retryable: false };
    assert.deepEqual(
      rows,
      scriptedFailures.map((code) => [code, exitCodeOf({ type: "failed", text: "", error: { ...error, code } })]),
    );
  });

  /** A copy to run in, with `outrider` and the Node that runs the tests in the PATH. */
  function installed(): { folder: string; env: Record<string, string> } {
    const folder = join(tempFolder("guide"), "pipeline-test");
    cpSync(example, folder, { recursive: true });
    const binaries = tempFolder("bin");
    symlinkSync(bin, join(binaries, "outrider"));
    symlinkSync(process.execPath, join(binaries, "node"));
    return { folder, env: { PATH: `${binaries}:${process.env["PATH"]}`, HOME: tempFolder("guide-home") } };
  }

  it("shows commands that do what it says they do", async () => {
    const { folder, env } = installed();
    for (const block of blocks("console")) {
      const commands = block.split("\n").flatMap((line) => (line.startsWith("$ ") ? [line.slice(2)] : []));
      const { stdout } = await promisify(execFile)("bash", ["-c", `exec < /dev/null 2>&1\n${commands.join("\n")}\n:`], {
        cwd: folder,
        env,
      });
      const expected = block.replace(/^\$ .*\n/gm, "");
      assert.equal(
        stdout,
        expected,
        `${block}\nWhere the built-in prompt or tools have changed: sh examples/pipeline-test/record.sh`,
      );
    }
  });

  it("shows the example for the library, and that works", async () => {
    assert.deepEqual(blocks("js"), [readFileSync(join(example, "library.test.mjs"), "utf8")]);
    const { stdout } = await promisify(execFile)(process.execPath, ["--test", join(example, "library.test.mjs")], {
      env: { PATH: "" },
    });
    assert.match(stdout, /pass 1\b/);
  });

  it("has a recording that record.sh makes", async () => {
    const { folder, env } = installed();
    await promisify(execFile)("sh", [join(folder, "record.sh")], { env });
    const [made, kept] = [folder, example].map((place) => JSON.parse(readFileSync(join(place, "cassette.json"), "utf8")));
    assert.deepEqual(made.calls, kept.calls, "run sh examples/pipeline-test/record.sh and npm run format");
  });
});
