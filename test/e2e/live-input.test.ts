import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lines, model, run, start, tempFolder } from "./command.ts";

const live = ["--input-format", "stream-json", "--output-format", "stream-json"];
const plain = (text: string): string => `${JSON.stringify({ type: "user", content: text })}\n`;
const claude = (content: unknown, more: object = {}): string =>
  `${JSON.stringify({ type: "user", message: { role: "user", content }, ...more })}\n`;
const good = plain("first");

type Told = [code: number | null, results: (string | undefined)[]];

/** The exit code, and of each result its answer or the code of its error. */
async function told(stdin: string | Buffer): Promise<Told> {
  const { env } = await model([{ text: "one" }, { text: "two" }, { text: "three" }], tempFolder());
  const { code, stdout } = await run(live, { env, stdin });
  const results = lines(stdout).filter(({ type }) => type === "result");
  return [code, results.map(({ result, error }) => (result as string | undefined) ?? (error as { code: string }).code)];
}

describe("lines of live input", () => {
  const cases: [what: string, stdin: string | Buffer, expected: Told][] = [
    [
      "may end like on Windows and have blank ones between",
      `\r\n${good.replace("\n", "\r\n")} \n\n${claude("x")}`,
      [0, ["one", "two"]],
    ],
    ["need no end at the end of the input", good + plain("second").trimEnd(), [0, ["one", "two"]]],
    ["may begin with a byte order mark", `\ufeff${good}`, [0, ["one"]]],
    ["that are cut off by the end of the input are skipped", `${good}{"type":"user","con`, [0, ["one"]]],
    ["that are no JSON are skipped, and what comes after them is run", `${good}{oops\n${good}`, [0, ["one", "two"]]],
    ["that are no objects are an error when there is nothing else", "[1]\n", [64, ["usage"]]],
    ["may hold bytes that are no UTF-8", Buffer.from('{"type":"user","content":"\xff\xfe"}\n', "latin1"), [0, ["one"]]],
    ["may be ten megabytes long", plain("x".repeat(10_000_000)), [0, ["one"]]],
    ["that do not end are an error, not a full memory", good + "x".repeat(68_000_000), [64, ["one", "usage"]]],
    ["in Claude's envelope that cannot be used spoil no others", claude("") + claude("x"), [0, ["usage", "one"]]],
    ["of an unknown type are skipped", `{"type":"hello"}\n${good}`, [0, ["one"]]],
    [
      "of a run are skipped",
      `{"type":"result"}\n${claude([{ type: "tool_result" }])}${claude("x", { isReplay: true })}`,
      [0, []],
    ],
    ["with a field too many are not run", `{"type":"user","content":"x","extra":1}\n${good}`, [0, ["one"]]],
    ["that keep alive say nothing", `{"type":"keep_alive"}\n${good}`, [0, ["one"]]],
    ["that interrupt nothing do nothing", `{"type":"control","subtype":"interrupt"}\n${good}`, [0, ["one"]]],
    ["of nothing but blanks are no prompt", "\n \r\n", [0, []]],
  ];
  for (const [what, stdin, expected] of cases)
    it(what, { timeout: 60_000 }, async () => assert.deepEqual(await told(stdin), expected));

  it("that cannot be used end the input for scripts of caliban", async () => {
    const { env } = await model([{ text: "one" }], tempFolder());
    const { code, stdout } = await run([...live, "--flavor", "caliban"], { env, stdin: `${good}{oops\n${good}` });
    assert.deepEqual([code, lines(stdout).at(-1)?.["subtype"]], [64, "error"]);
    assert.equal((await run([...live, "--flavor", "caliban"], { env, stdin: "" })).code, 66);
  });

  it("may be the output of another run: it is skipped, each kind with one warning, and the prompts beside it are run", async () => {
    const call = { calls: [{ name: "Bash", input: { command: "echo hi" } }] };
    const { env, server } = await model([call, { text: "one" }, { text: "two" }], tempFolder());
    const first = start([...live, "--include-partial-messages", "--replay-user-messages"], { env, stdin: "open" });
    const second = start(live, { env, stdin: "open" });
    first.child.stdout.pipe(second.child.stdin, { end: false });
    first.child.stdin.end(good);
    const one = await first.done;
    second.child.stdin.end(plain("second"));
    const two = await second.done;
    assert.deepEqual([one.code, one.stderr, two.code, two.stderr, server.requests.length], [0, "", 0, "", 3]);
    const frames = lines(two.stdout);
    const kinds = new Set(lines(one.stdout).map(({ type }) => type));
    assert.ok(kinds.has("stream_event") && kinds.has("user"));
    const warned = frames.flatMap(({ subtype, message }) => (subtype === "warning" ? [message] : []));
    assert.equal(warned.length, kinds.size, warned.join("\n"));
    assert.deepEqual(
      frames.flatMap(({ type, result }) => (type === "result" ? [result] : [])),
      ["two"],
    );
  });

  it("may end in one object or in plain answers, for scripts of caliban", async () => {
    const wanted = async (format: string, flavor: string) => {
      const { env } = await model([{ text: "one" }, { text: "two" }], tempFolder());
      const flags = ["--input-format", "stream-json", "--output-format", format, "--flavor", flavor, "--prompt", "-"];
      return await run(flags, { env, stdin: good + plain("second") });
    };
    const whole = await wanted("json", "caliban");
    assert.deepEqual(
      [whole.code, lines(whole.stdout).map(({ type, subtype, result }) => [type, subtype, result])],
      [0, [["result", "success", "two"]]],
    );
    assert.equal((await wanted("text", "caliban")).stdout, "one\ntwo\n");
    assert.deepEqual([(await wanted("json", "claude")).code, (await wanted("atif-jsonl", "caliban")).code], [64, 64]);
  });

  it("that are only to be kept get a result of their own and reach the model with the next prompt", async () => {
    const { env, server } = await model([{ text: "one" }], tempFolder());
    const { stdout } = await run(live, { env, stdin: claude("remember this", { shouldQuery: false }) + claude("now") });
    const results = lines(stdout).filter(({ type }) => type === "result");
    assert.deepEqual(
      results.map(({ result, num_turns }) => [result, num_turns]),
      [
        ["", 0],
        ["one", 1],
      ],
    );
    assert.match(JSON.stringify(server.requests[0]?.body), /remember this.*now/);
  });

  it("wait for the host's initialize with --await-initialize, and for nothing without it", async () => {
    const { env } = await model([{ text: "one" }, { text: "two" }], tempFolder());
    const initialize = `${JSON.stringify({ type: "control_request", request_id: "r1", request: { subtype: "initialize" } })}\n`;
    const kinds = async (...flags: string[]): Promise<unknown[]> => {
      const { stdout } = await run([...live, ...flags], { env, stdin: good + initialize });
      return lines(stdout).map(({ type, subtype, response }) =>
        [type, subtype ?? (response as { subtype?: string })?.subtype].join("/"),
      );
    };
    assert.deepEqual((await kinds("--await-initialize"))[0], "control_response/success");
    assert.deepEqual((await kinds()).includes("control_response/error"), true);
  });
});
