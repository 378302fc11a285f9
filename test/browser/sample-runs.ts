const began = Date.parse("2026-01-02T03:04:05.000Z");
const usage = { inputTokens: 12_000, outputTokens: 400, cacheReadTokens: 9_000, cacheWriteTokens: 1_000, reasoningTokens: 0 };

/** The log of a session in which everything that a page shows has happened: a failure, a denial, an edit, a subagent, a summary, a retry. */
export function variedSession(): string {
  const events: object[] = [];
  let ms = 0;
  const add = (type: string, fields: object, after = 100): void => {
    ms += after;
    events.push({
      seq: events.length + 1,
      at: new Date(began + ms).toISOString(),
      sessionId: "0a1b2c3d-0000-4000-8000-000000000001",
      type,
      ...fields,
    });
  };
  const answers = (content: readonly object[], extra: object = {}): void =>
    add(
      "message.ended",
      {
        messageId: `m${ms}`,
        message: { role: "assistant", content, model: { provider: "anthropic", id: "claude-sonnet-4-5" }, finish: "stop", usage },
        durationMs: 900,
        requestedModel: "claude-sonnet-4-5",
        ...extra,
      },
      1000,
    );
  const text = (words: string): object => ({ type: "text", text: words });
  const call = (callId: string, name: string, input: object): object => ({ type: "tool-call", callId, name, input });
  const result = (callId: string, name: string, output: string, fields: object = {}): void => {
    add("tool.started", { callId, name, input: {} }, 10);
    add(
      "tool.ended",
      {
        callId,
        name,
        status: "ok",
        durationMs: 700,
        result: { type: "tool-result", callId, name, content: [text(output)], isError: false },
        ...fields,
      },
      700,
    );
  };
  add("session.started", {
    cwd: "/home/dev/shop",
    version: "0.1.0",
    permissionMode: "acceptEdits",
    resumed: false,
    model: { provider: "anthropic", id: "claude-sonnet-4-5" },
  });
  add("turn.started", {
    input: { role: "user", content: [text("Checkout applies a discount twice. **Find the cause** and fix it.")] },
  });
  answers([
    { type: "reasoning", text: "Let me look first.\nThen change." },
    text(
      "I run the tests first, then read the code:\n\n- one\n- two\n\n```ts\nconst a = 1; // comment\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    ),
  ]);
  add("retry.scheduled", {
    messageId: "m",
    attempt: 1,
    maxRetries: 3,
    delayMs: 1500,
    error: { code: "overloaded", message: "529 overloaded" },
  });
  answers([call("c1", "Bash", { command: "npm test" })]);
  result("c1", "Bash", `\u001b[32m✓\u001b[0m cart\n\u001b[31m✗ discounts\u001b[0m\n${"more output\n".repeat(60)}`, {
    status: "error",
    details: { exitCode: 1 },
  });
  answers([
    text("Found it."),
    call("c2", "Edit", { file_path: "/home/dev/shop/src/cart.ts" }),
    call("c3", "Read", { file_path: "/home/dev/shop/src/money.ts" }),
  ]);
  result("c2", "Edit", "changed", {
    details: {
      file: "/home/dev/shop/src/cart.ts",
      diff: [
        { type: "hunk", text: "@@ -1,2 +1,2 @@" },
        { type: "remove", text: "let total = cart.total;", line: 1 },
        { type: "add", text: "let total = sum(cart.lines);", line: 1 },
        { type: "context", text: "return total;", line: 2 },
      ],
    },
  });
  result("c3", "Read", "export const x = 1;\n// deep needle in a closed body\n");
  answers([call("c4", "Task", { description: "Find every caller", prompt: "Look" })]);
  add("task.started", {
    taskId: "t1",
    callId: "c4",
    agent: "Explore",
    description: "Find every caller",
    prompt: "Look for callers",
    model: { provider: "anthropic", id: "claude-haiku-4-5" },
    system: "",
    tools: [],
    permissionMode: "default",
  });
  answers([text("There are two.")], { taskId: "t1" });
  add("task.ended", {
    taskId: "t1",
    callId: "c4",
    outcome: { type: "completed", text: "There are two." },
    usage,
    modelCalls: 1,
    durationMs: 1200,
  });
  result("c4", "Task", "There are two.");
  add("compaction.ended", {
    compactionId: "k",
    trigger: "auto",
    preTokens: 160_000,
    durationMs: 2000,
    result: { type: "compacted", replaced: 20, preface: "", summary: "We fixed the cart.", files: [], postTokens: 30_000 },
  });
  answers([text("One more package."), call("c5", "Bash", { command: "npm install decimal.js" })]);
  add("permission.requested", { requestId: "r1", callId: "c5", tool: "Bash", input: {}, reason: "no rule" });
  add("permission.resolved", { requestId: "r1", callId: "c5", decision: "deny", by: "user", reason: "not today" }, 60_000);
  add("permission.decided", { callId: "c5", tool: "Bash", effect: "deny", by: "user", reason: "not today" });
  result("c5", "Bash", "Permission denied", { status: "denied" });
  add("hook.ended", {
    hookId: "h",
    event: "PostToolUse",
    name: "prettier --write",
    status: "ok",
    exitCode: 0,
    stdout: "",
    stderr: "",
    durationMs: 270,
  });
  answers([text("That is all I can do.")]);
  add("turn.ended", {
    outcome: { type: "stopped", limit: "max-turns", text: "" },
    usage,
    modelCalls: 6,
    durationMs: ms,
    modelDurationMs: 5400,
  });
  return events.map((event) => JSON.stringify(event)).join("\n");
}

/** The same with words that no line can hold, wherever a model, a tool or a person puts words. */
export function wideSession(): string {
  const long = (words: string): string => `${words}-${"wide".repeat(150)}`;
  const named = {
    seq: 3,
    at: new Date(began).toISOString(),
    sessionId: "0a1b2c3d-0000-4000-8000-000000000001",
    type: "session.named",
  };
  return [
    "claude-sonnet-4-5",
    "Checkout applies",
    "Let me look first",
    "Found it",
    "529 overloaded",
    "npm test",
    "npm install",
    "src/cart",
    "money",
    "Find every caller",
    "Explore",
    "not today",
    "prettier",
    "/home/dev/shop",
    "That is all",
    "| 1 ",
    "We fixed the cart",
  ]
    .reduce((text, words) => text.replaceAll(words, long(words)), variedSession())
    .replace("\n", `\n${JSON.stringify({ ...named, name: long("A name") })}\n`);
}

export const attacks = [
  "<script>window.pwned = 1</script>",
  "</script><script>window.pwned = 1</script>",
  "<img src=x onerror=window.pwned=1>",
  "[click](javascript:window.pwned=1) ![p](https://127.0.0.1:9/p.png) <a href='javascript:window.pwned=1'>x</a>",
  "<!-- <script>window.pwned=1//",
  "[a]: javascript:window.pwned=1\n\n[a]",
  "<svg onload=window.pwned=1><iframe srcdoc='<script>parent.pwned=1</script>'>",
  "\u202Egnp.exe\u2066 \u200B\u0000\u0007",
  `\u001b[31m${"\u001b[1m\u001b[32mx".repeat(20_000)}`,
  "\u001b]8;;javascript:window.pwned=1\u0007link\u001b]8;;\u0007 \u001b[2J\u001b[999D",
  "data:text/html,<script>window.pwned=1</script>",
  "`".repeat(3000) + "[".repeat(3000),
];

/** What a run may hold when somebody wants its reader harmed: in prompts, answers, names of tools, inputs, outputs and pictures. */
export function hostileTranscript(): string {
  const frames: object[] = [
    { type: "system", subtype: "init", session_id: '"><script>window.pwned=1</script>', cwd: "/p/<b>x", model: "<i>m" },
  ];
  for (const [at, attack] of attacks.entries()) {
    const id = `t${at}`;
    frames.push({ type: "user", message: { role: "user", content: attack } });
    frames.push({
      type: "assistant",
      message: {
        id: `m${at}`,
        model: attack.slice(0, 50),
        content: [
          { type: "thinking", thinking: attack },
          { type: "text", text: attack },
          {
            type: "tool_use",
            id,
            name: attack.slice(0, 60),
            input: { command: attack, file_path: attack, old_string: attack, new_string: `${attack}!` },
          },
        ],
      },
    });
    frames.push({
      type: "user",
      message: {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: id,
            is_error: at % 2 === 0,
            content: [
              { type: "text", text: attack },
              {
                type: "image",
                source: { type: "base64", media_type: at % 2 ? "image/svg+xml" : "image/png", data: "bm8gcGljdHVyZQ==" },
              },
            ],
          },
        ],
      },
    });
  }
  const long = "x".repeat(20_000_000);
  frames.push({
    type: "assistant",
    message: {
      id: "long",
      content: [
        { type: "text", text: long },
        { type: "tool_use", id: "tl", name: "Bash", input: { command: "cat" } },
      ],
    },
  });
  frames.push({ type: "user", message: { role: "user", content: [{ type: "tool_result", tool_use_id: "tl", content: long }] } });
  frames.push({ type: "result", subtype: "success", result: attacks[0] });
  return frames.map((frame) => JSON.stringify(frame)).join("\n");
}

export function longTranscript(steps: number): string {
  const lines = Array.from({ length: steps }, (_, at) =>
    JSON.stringify({
      type: "assistant",
      timestamp: new Date(began + at * 1000).toISOString(),
      message: {
        id: `m${at}`,
        model: "m",
        usage: { input_tokens: at, output_tokens: 5 },
        content: [
          { type: "text", text: `Step word-${at + 1}- says a little more than nothing.` },
          { type: "tool_use", id: `t${at}`, name: "Bash", input: { command: `echo ${at}` } },
        ],
      },
    }),
  );
  return [...lines, JSON.stringify({ type: "result", subtype: "success", result: "All done." })].join("\n");
}
