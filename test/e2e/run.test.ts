import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { bin, launcher, lines, model, run, tempFolder } from "./command.ts";

const home = tempFolder("home");
const project = tempFolder("project");
writeFileSync(join(project, "a.txt"), "hello\n");

type Body = {
  messages: { role: string; content: { type: string; text?: string }[] }[];
  system?: unknown;
  tools: { name: string }[];
  model: string;
};
const promptOf = (body: unknown): string => (body as Body).messages[0]?.content.map((block) => block.text).join("") ?? "";

function errorCode(stdout: string): string | undefined {
  return (lines(stdout)[0]?.["error"] as { code: string } | undefined)?.code;
}

describe("outrider -p", () => {
  it("prints the answer and nothing else", async () => {
    const { env } = await model([{ text: "hi there" }], home);
    const { code, stdout, stderr } = await run(["-p", "hello"], { env });
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: "hi there\n", stderr: "" });
  });

  it("prints one result object as json", async () => {
    const { env } = await model([{ text: "hi there", usage: { inputTokens: 12, outputTokens: 3, cacheReadTokens: 2 } }], home);
    const { code, stdout } = await run(["-p", "hello", "--output-format", "json"], { env });
    const [result, ...rest] = lines(stdout);
    assert.equal(code, 0);
    assert.deepEqual(rest, []);
    const { uuid, session_id, duration_ms, duration_api_ms, model_usage_since_last_result: since, ...rests } = result ?? {};
    const { ttft_ms, ttft_stream_ms, time_to_request_ms, first_content_frame_ms, subagent_stats, ...fixed } = rests;
    assert.equal((subagent_stats as { spawned: number }).spawned, 0);
    const times = [duration_ms, duration_api_ms, ttft_ms, ttft_stream_ms, time_to_request_ms, first_content_frame_ms];
    assert.ok([uuid, session_id].every((id) => typeof id === "string") && times.every((ms) => typeof ms === "number"));
    assert.ok(Number(time_to_request_ms) <= Number(ttft_ms) && Number(ttft_ms) <= Number(duration_ms));
    assert.deepEqual(since, fixed["modelUsage"]);
    assert.deepEqual(fixed, {
      type: "result",
      subtype: "success",
      is_error: false,
      num_turns: 1,
      result: "hi there",
      stop_reason: "end_turn",
      terminal_reason: "completed",
      total_cost_usd: 0.0000502,
      api_error_status: null,
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 2,
        output_tokens: 3,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens_details: { thinking_tokens: 0 },
        server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
      },
      modelUsage: {
        "claude-sonnet-5-5": {
          inputTokens: 10,
          outputTokens: 3,
          cacheReadInputTokens: 2,
          cacheCreationInputTokens: 0,
          cacheCreationEphemeral5mInputTokens: 0,
          cacheCreationEphemeral1hInputTokens: 0,
          thinkingTokens: 0,
          webSearchRequests: 0,
          costUSD: 0.0000502,
          contextWindow: 1000000,
          maxOutputTokens: 128_000,
          requestedModel: "claude-sonnet-5-5",
          canonicalModel: "claude-sonnet-5-5",
          costBasis: "list",
          provider: "anthropic",
        },
      },
      permission_denials: [],
      tool_calls_seen: 0,
      fast_mode_state: "off",
      result_index: 0,
      queued_turn_count: 0,
    });
  });

  it("streams what happens as lines: init first, result last, blocks and tool results between", async () => {
    const { env } = await model(
      [
        { reasoning: "Look.", text: "Reading it.", calls: [{ name: "Read", input: { file_path: "a.txt" }, callId: "toolu_1" }] },
        { text: "It says hello." },
      ],
      home,
    );
    const args = ["-p", "what is in a.txt?", "--output-format", "stream-json", "--include-partial-messages"];
    const { code, stdout } = await run(args, { env, cwd: project });
    const frames = lines(stdout);
    assert.equal(code, 0);
    const kinds = frames.map((frame) => (frame["type"] === "system" ? `system/${frame["subtype"]}` : frame["type"]));
    assert.deepEqual(
      kinds.filter((kind) => kind !== "stream_event" && kind !== "system/status"),
      ["system/init", "system/thinking_tokens", "assistant", "assistant", "assistant", "user", "assistant", "result"],
    );
    assert.equal(kinds[0], "system/init");
    assert.equal(kinds.at(-1), "result");
    assert.ok(frames.every((frame) => frame["session_id"] === frames[0]?.["session_id"] && typeof frame["uuid"] === "string"));
    const deltas = frames.flatMap((frame) => {
      const event = frame["event"] as { delta?: { type?: string; text?: string } } | undefined;
      return event?.delta?.type === "text_delta" ? [event.delta.text] : [];
    });
    assert.equal(deltas.join(""), "Reading it.It says hello.");
  });

  it("runs real tools in the project", async () => {
    const folder = tempFolder("tools");
    writeFileSync(join(folder, "n.txt"), "one\n");
    const { env, server } = await model(
      [
        { calls: [{ name: "Read", input: { file_path: "n.txt" } }] },
        { calls: [{ name: "Edit", input: { file_path: "n.txt", old_string: "one", new_string: "two" } }] },
        { calls: [{ name: "Bash", input: { command: "cat n.txt" } }] },
        { text: "Done." },
      ],
      home,
    );
    const args = [
      "-p",
      "change it",
      "--permission-mode",
      "acceptEdits",
      "--allowedTools",
      "Bash(cat:*)",
      "--output-format",
      "json",
    ];
    const { code, stdout } = await run(args, { env, cwd: folder });
    assert.equal(code, 0);
    assert.deepEqual([lines(stdout)[0]?.["num_turns"], lines(stdout)[0]?.["tool_calls_seen"]], [4, 3]);
    assert.equal(readFileSync(join(folder, "n.txt"), "utf8"), "two\n");
    assert.match(JSON.stringify(server.requests[3]?.body), /two/);
  });

  it("denies what nobody can be asked for, at once, naming the rule that would allow it", async () => {
    const { env, server } = await model(
      [{ calls: [{ name: "Bash", input: { command: "touch evil" }, callId: "toolu_9" }] }, { text: "I was not allowed to." }],
      home,
    );
    const { code, stdout } = await run(["-p", "go", "--output-format", "json"], { env, cwd: project });
    const [result] = lines(stdout);
    assert.equal(code, 0);
    const denials = result?.["permission_denials"] as Record<string, unknown>[];
    assert.deepEqual(
      denials.map(({ tool_name, tool_use_id, tool_input }) => ({ tool_name, tool_use_id, tool_input })),
      [{ tool_name: "Bash", tool_use_id: "toolu_9", tool_input: { command: "touch evil" } }],
    );
    assert.match(JSON.stringify(server.requests[1]?.body), /A rule that would allow it: Bash\(touch evil\)/);
    assert.equal(existsSync(join(project, "evil")), false);
  });

  it("takes a tool away by its name", async () => {
    const { env, server } = await model([{ text: "ok" }], home);
    await run(["-p", "go", "--disallowed-tools", "Bash,WebFetch", "WebSearch"], { env });
    const names = (server.requests[0]?.body as Body | undefined)?.tools.map((tool) => tool.name);
    assert.deepEqual(names?.sort(), [
      ...["Edit", "Glob", "Grep", "NotebookEdit", "Read", "SendMessage", "Task", "TaskOutput", "TaskStop", "TodoWrite", "Write"],
    ]);
  });

  it("says nothing on stderr about a search, whose program is an ES module's to find", async () => {
    const search = { calls: [{ name: "Grep", input: { pattern: "never-found" } }] };
    const { env } = await model([search, { text: "ok" }, search, { text: "ok" }], home);
    for (const [kept, place] of [["nothing", tempFolder()] as const, ["what an earlier run compiled", home] as const]) {
      const own = { ...env, OUTRIDER_HOME: place };
      const { code, stderr } = await run(["-p", "go", "--output-format", "stream-json"], { env: own, cwd: tempFolder() });
      assert.deepEqual([code, stderr], [0, ""], kept);
    }
  });

  it("stops at --max-turns with exit 75 and the subtype that says so", async () => {
    const { env } = await model(() => ({ text: "again", calls: [{ name: "Glob", input: { pattern: "*" } }] }), home);
    const { code, stdout, stderr } = await run(["-p", "go", "--max-turns", "2", "--output-format", "json"], { env });
    const [result] = lines(stdout);
    assert.equal(code, 75);
    assert.deepEqual(
      [
        result?.["subtype"],
        result?.["is_error"],
        result?.["num_turns"],
        result?.["last_assistant_text"],
        "result" in (result ?? {}),
      ],
      ["error_max_turns", true, 2, "again", false],
    );
    assert.match(stderr, /--max-turns/);
  });

  it("sends the system prompt that was asked for", async () => {
    const { env, server } = await model([{ text: "1" }, { text: "2" }, { text: "3" }], home);
    const place = { env, cwd: project };
    await run(["-p", "go", "--system-prompt", "You are terse."], place);
    await run(["-p", "go", "--system-prompt=You are terse.", "--append-system-prompt", "Speak French."], place);
    await run(["-p", "go", "--append-system-prompt", "Speak French."], place);
    const [replaced, both, added] = server.requests.map((request) => JSON.stringify((request.body as Body).system));
    assert.match(replaced ?? "", /"You are terse\."/);
    assert.match(both ?? "", /You are terse\.\\n\\nSpeak French\./);
    assert.match(added ?? "", /Working directory.*Speak French\./);
  });

  it("asks the model that was named, by flag before variable", async () => {
    const { env, server } = await model([{ text: "1" }, { text: "2" }], home);
    await run(["-p", "go", "--model", "claude-x"], { env: { ...env, ANTHROPIC_MODEL: "claude-y" } });
    await run(["-p", "go"], { env: { ...env, ANTHROPIC_MODEL: "claude-y" } });
    assert.deepEqual(
      server.requests.map((request) => (request.body as Body).model),
      ["claude-x", "claude-y"],
    );
  });

  it("works in --cwd", async () => {
    const { env, server } = await model([{ calls: [{ name: "Read", input: { file_path: "a.txt" } }] }, { text: "ok" }], home);
    assert.equal((await run(["-p", "go", "--cwd", project], { env })).code, 0);
    assert.match(JSON.stringify(server.requests[1]?.body), /hello/);
  });

  it("keeps one journal per run that jq can read, under the id that was asked for", async () => {
    const own = tempFolder("own-home");
    const { env } = await model([{ text: "ok" }, { text: "ok" }], own);
    const { code, stdout } = await run(
      ["-p", "go", "--session-id", "11111111-2222-3333-4444-555555555555", "--output-format", "json"],
      { env },
    );
    assert.equal(code, 0);
    assert.equal(lines(stdout)[0]?.["session_id"], "11111111-2222-3333-4444-555555555555");
    assert.deepEqual(readdirSync(join(own, "sessions")), ["11111111-2222-3333-4444-555555555555.jsonl"]);
    const journal = lines(readFileSync(join(own, "sessions/11111111-2222-3333-4444-555555555555.jsonl"), "utf8"));
    assert.deepEqual(
      journal.map((event) => event["type"]),
      ["session.started", "turn.started", "context.updated", "message.ended", "turn.ended", "session.ended"],
    );
    const again = await run(["-p", "go", "--session-id", "11111111-2222-3333-4444-555555555555"], { env });
    assert.equal(again.code, 64);
    assert.match(again.stderr, /exists already/);
  });

  it("keeps nothing with --no-session-persistence", async () => {
    const own = tempFolder("no-home");
    const { env } = await model([{ text: "ok" }], own);
    assert.equal((await run(["-p", "go", "--no-session-persistence"], { env })).code, 0);
    assert.deepEqual(
      readdirSync(own).filter((name) => name !== "cache"), // compiled code, on versions of Node that keep none themselves
      [],
    );
  });

  it("ends with a typed result when its home cannot be written", async () => {
    const blocked = join(tempFolder("blocked"), "file");
    writeFileSync(blocked, "");
    const { env, server } = await model([{ text: "ok" }], blocked);
    const { code, stdout, stderr } = await run(["-p", "go", "--output-format", "json"], { env });
    assert.deepEqual([code, errorCode(stdout), server.requests.length], [78, "storage-failed", 0]);
    assert.match(stderr, /OUTRIDER_HOME/);
  });

  it("gives tools no provider keys", async () => {
    const { env, server } = await model([{ calls: [{ name: "Bash", input: { command: "env" } }] }, { text: "ok" }], home);
    await run(["-p", "go", "--allowedTools", "Bash"], { env });
    const seen = JSON.stringify(server.requests[1]?.body);
    assert.match(seen, /PATH=/);
    assert.doesNotMatch(seen, /test-key/);
  });

  it("answers from a script file without any server", async () => {
    const script = join(tempFolder("script"), "replies.json");
    writeFileSync(script, JSON.stringify([{ text: "scripted answer" }]));
    const { code, stdout } = await run(["-p", "go", "--provider", "scripted", "--model", script], {
      env: { OUTRIDER_HOME: home },
    });
    assert.deepEqual([code, stdout], [0, "scripted answer\n"]);
  });
});

describe("the prompt", () => {
  it("is the words, stdin, or both", async () => {
    const { env, server } = await model(() => ({ text: "ok" }), home);
    await run(["-p", "just words"], { env });
    await run(["-p"], { env, stdin: "from stdin\n" });
    await run(["-p", "review this"], { env, stdin: "diff --git\n" });
    await run(["review", "these", "words", "-"], { env, stdin: "and this" });
    await run(["-"], { env, stdin: "\ufeffwith a mark" });
    await run(["-p"], { env, stdin: Buffer.from("\ufeffsechzehn", "utf16le") });
    await run(["--prompt", "--a flag's words"], { env });
    await run(["--prompt=-"], { env, stdin: "delegated" });
    assert.deepEqual(
      server.requests.map((request) => promptOf(request.body)),
      [
        "just words",
        "from stdin",
        "review this\n\ndiff --git",
        "review these words\n\nand this",
        "with a mark",
        "sechzehn",
        "--a flag's words",
        "delegated",
      ],
    );
  });

  it("comes through a shell's pipe too, beside the words or alone", async () => {
    const { env, server } = await model(() => ({ text: "ok" }), home);
    const shell = (command: string) => promisify(execFile)("bash", ["-c", command], { env: { ...process.env, ...env } });
    await shell(`printf 'piped' | "${launcher}" "${bin}" -p "words"`);
    await shell(`(sleep 0.5; printf 'late') | "${launcher}" "${bin}" -p "words" -`);
    assert.deepEqual(
      server.requests.map((request) => promptOf(request.body)),
      ["words\n\npiped", "words\n\nlate"],
    );
  });

  it("does not wait for an open stdin that says nothing", async () => {
    const { env } = await model([{ text: "ok" }], home);
    const { code, stdout, stderr } = await run(["-p", "hello"], { env, stdin: "open" });
    assert.deepEqual([code, stdout], [0, "ok\n"]);
    assert.match(stderr, /not waiting for it/);
  });

  it("takes a large stdin whole and refuses more than 10 MB", async () => {
    const { env, server } = await model([{ text: "ok" }], home);
    const text = "0123456789".repeat(300_000);
    assert.equal((await run(["-p", "count"], { env, stdin: text })).code, 0);
    assert.equal(promptOf(server.requests[0]?.body).length, text.length + "count\n\n".length);
    const tooMuch = await run(["-p"], { env, stdin: "x".repeat(10 * 1024 * 1024 + 1) });
    assert.equal(tooMuch.code, 78);
  });

  it("is missed when there is none", async () => {
    const { env } = await model([], home);
    for (const stdin of ["", " \n"]) {
      const { code, stdout, stderr } = await run(["-p", "--output-format", "json"], { env, stdin });
      assert.equal(code, 66);
      assert.equal(errorCode(stdout), "no-input");
      assert.match(stderr, /prompt is empty/);
    }
  });
});

describe("wrong usage", () => {
  const cases: [string[], RegExp][] = [
    [["-p", "x", "--modle", "y"], /Unknown flag --modle\. Did you mean --model\?/],
    [["-p", "x", "--output-format", "jsn"], /--output-format cannot be "jsn"\. Did you mean json\?/],
    [["-p", "x", "--max-turns", "3abc"], /--max-turns needs a whole number/],
    [["-p", "x", "--max-turns", "0", "--flavor", "caliban"], /--max-turns needs a whole number above 0/],
    [["-p", "x", "--max-turns", "-1"], /--max-turns needs a whole number, 0 for no limit, not "-1"/],
    [["-p", "x", "--max-turns=-1"], /--max-turns needs a whole number/],
    [["-p", "x", "--model"], /--model needs a value/],
    [["-p", "x", "--verbose=1"], /--verbose takes no value/],
    [["-p", "x", "--permission-mode", "yolo"], /--permission-mode cannot be "yolo"/],
    [["-p", "x", "--cwd", "/no/such/folder"], /not there/],
    [["-p", "x", "--allowedTools", "Bash(", "--flavor", "caliban"], /Not a permission rule/],
  ];
  for (const [args, message] of cases) {
    it(`is refused with exit 64: ${args.slice(2).join(" ")}`, async () => {
      const { env, server } = await model([], home);
      const { code, stdout, stderr } = await run(args, { env });
      assert.deepEqual([code, stdout, server.requests.length], [64, "", 0]);
      assert.match(stderr, message);
    });
  }

  it("still ends with one result in a machine format", async () => {
    const { code, stdout } = await run(["-p", "x", "--output-format=stream-json", "--modle", "y"], {});
    assert.equal(code, 64);
    assert.deepEqual(
      lines(stdout).map((frame) => [frame["type"], frame["subtype"], frame["is_error"]]),
      [["result", "error_during_execution", true]],
    );
  });
});

describe("no provider", () => {
  it("exits 78 and names the three quickest ways on", async () => {
    const { code, stdout, stderr } = await run(["-p", "x", "--output-format", "json"], { env: { OUTRIDER_HOME: home } });
    assert.equal(code, 78);
    assert.equal(errorCode(stdout), "config");
    for (const way of ["ANTHROPIC_API_KEY", "ollama", "outrider demo"]) assert.ok(stderr.includes(way), way);
  });

  it("names the nearest known provider", async () => {
    const { code, stderr } = await run(["-p", "x", "--provider", "antropic"], { env: { OUTRIDER_HOME: home } });
    assert.equal(code, 78);
    assert.match(stderr, /did you mean anthropic\?/);
  });
});

describe("help and version", () => {
  it("are printed to stdout with exit 0", async () => {
    const help = await run(["--help"]);
    assert.equal(help.code, 0);
    for (const word of ["--output-format", "--allowedTools", "Exit codes", "outrider demo", "ANTHROPIC_API_KEY"])
      assert.ok(help.stdout.includes(word), word);
    const widest = Math.max(...help.stdout.split("\n").map((line) => line.length));
    assert.ok(widest <= 120, `a line of ${widest}`);
    const version = await run(["-v"]);
    assert.match(version.stdout, /^\d+\.\d+\.\d+ \(Outrider\)\n$/);
  });
});

describe("the demo", () => {
  it("obeys nobody's settings, hooks or servers", async () => {
    const own = tempFolder("demo-home");
    const hook = { hooks: [{ type: "command", command: `touch ${join(own, "ran")}; exit 2` }] };
    const settings = { permissions: { deny: ["Bash", "Edit"] }, hooks: { UserPromptSubmit: [hook], PreToolUse: [hook] } };
    writeFileSync(join(own, "settings.json"), JSON.stringify(settings));
    const { code } = await run(["demo"], { env: { OUTRIDER_HOME: own } });
    assert.deepEqual([code, existsSync(join(own, "ran"))], [0, false]);
  });

  it("repairs a real project and says what changed", async () => {
    const { code, stdout } = await run(["demo"], { env: { OUTRIDER_HOME: home } });
    assert.equal(code, 0, stdout);
    for (const words of ["the model is a script", "changed   src/average.", "tokens", "journal"])
      assert.ok(stdout.includes(words), words);
  });

  it("takes a project for the shell where there is no Node to run tests", async () => {
    const path = tempFolder("without-node");
    for (const name of ["sh", "bash"]) symlinkSync(`/bin/${name}`, join(path, name));
    const { code, stdout } = await run(["demo"], { env: { OUTRIDER_HOME: home, PATH: path } });
    assert.equal(code, 0, stdout);
    assert.ok(stdout.includes("changed   src/average.sh"), stdout);
  });
});
