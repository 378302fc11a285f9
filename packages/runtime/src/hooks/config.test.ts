import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { RuntimeError } from "../protocol/errors.ts";
import { type HookLimits, parseHooks } from "./config.ts";

const command = { type: "command", command: "true" };

function parse(value: unknown, limits: HookLimits = {}) {
  return parseHooks([{ value, source: "settings.json", trusted: true }], limits);
}

function problemOf(value: unknown, limits: HookLimits = {}): string {
  try {
    parse(value, limits);
    return "";
  } catch (error) {
    assert.ok(error instanceof RuntimeError && error.code === "config", String(error));
    return error.message;
  }
}

describe("hooks in settings", () => {
  it("are read with their defaults", () => {
    const { hooks } = parse({ PreToolUse: [{ matcher: "Bash", hooks: [command] }] });
    const [hook] = hooks;
    assert.deepEqual(
      { ...hook, matches: hook?.matches("Bash") },
      {
        event: "PreToolUse",
        matcher: "Bash",
        matches: true,
        condition: undefined,
        action: { type: "command", command: "true", args: undefined, env: {} },
        timeoutMs: 600_000,
        onFailure: "continue",
        onTimeout: "continue",
        background: false,
        guard: false,
        once: false,
        source: "settings.json",
      },
    );
  });

  it("of all layers are united, in order, with guards last and failing closed", () => {
    const layer = (name: string, more: object = {}) => ({
      value: { PreToolUse: [{ hooks: [{ ...command, command: name, ...more }] }] },
      source: name,
      trusted: true,
    });
    const { hooks } = parseHooks([layer("user", { guard: true }), layer("project"), layer("local", { timeout: 1.5 })]);
    assert.deepEqual(
      hooks.map(({ source, guard, onFailure, timeoutMs }) => [source, guard, onFailure, timeoutMs]),
      [
        ["project", false, "continue", 600_000],
        ["local", false, "continue", 1500],
        ["user", true, "block", 600_000],
      ],
    );
  });

  it("of an untrusted source are not even read, and named", () => {
    const value = { PreToolUse: [{ hooks: [{ ...command, guard: true }] }], Nonsense: 1 };
    assert.deepEqual(parseHooks([{ value, source: "project", trusted: false }]), {
      hooks: [],
      ignored: ["hooks.PreToolUse of project", "hooks.Nonsense of project"],
      warnings: [],
    });
    for (const odd of ["text", null, 7, ["x"]])
      assert.deepEqual(parseHooks([{ value: odd, source: "project", trusted: false }]).ignored, []);
  });

  it("can be switched off, but for guards", () => {
    const value = { Stop: [{ hooks: [command, { ...command, guard: true }] }] };
    assert.deepEqual(
      parse(value, { disableAllHooks: true }).hooks.map((hook) => hook.guard),
      [true],
    );
  });

  it("of a source that turns its own off are none but guards", () => {
    const value = { Stop: [{ hooks: [command, { ...command, guard: true }] }] };
    const { hooks } = parseHooks([
      { value, source: "user", trusted: true },
      { value, source: "project", trusted: true, guardsOnly: true },
    ]);
    assert.deepEqual(
      hooks.map(({ source, guard }) => [source, guard]),
      [
        ["user", false],
        ["user", true],
        ["project", true],
      ],
    );
  });

  it("that are wrongly written are errors that say where and what", () => {
    const pre = (hook: unknown, matcher?: unknown) => ({
      PreToolUse: [{ ...(matcher !== undefined && { matcher }), hooks: [hook] }],
    });
    const cases: [unknown, RegExp][] = [
      [[], /settings\.json: hooks must be an object/],
      [{ PreToolUze: [] }, /no event "PreToolUze"; did you mean "PreToolUse"\?/],
      [{ PreToolUse: {} }, /hooks\.PreToolUse must be a list/],
      [{ PreToolUse: [{ hooks: {} }] }, /hooks\.PreToolUse\[0\]\.hooks must be a list/],
      [pre(command, "Bash("), /hooks\.PreToolUse\[0\]\.matcher "Bash\(" cannot be used/],
      [pre(command, 3), /matcher must be a text/],
      [pre(command, "(a+)+"), /repeats/],
      [pre({ type: "guardrail" }), /hooks\[0\] has the type "guardrail"; expected command, http, mcp_tool, prompt or agent/],
      [pre({ type: "command" }), /needs "command"/],
      [pre({ ...command, comand: "x" }), /no field "comand"; did you mean "command"/],
      [pre({ ...command, zzzzzzzzzz: "x" }), /no field "zzzzzzzzzz"; expected one of type, /],
      [pre({ ...command, timeout: 0 }), /timeout must be a number above 0/],
      [pre({ ...command, onFailure: "deny" }), /onFailure must be one of block, continue/],
      [pre({ ...command, async: true, guard: true }), /can neither guard nor block/],
      [pre({ ...command, async: true, onFailure: "block" }), /can neither guard nor block/],
      [pre({ ...command, if: "Bash(" }), /if Not a permission rule/],
      [{ Stop: [{ hooks: [{ ...command, if: "Bash" }] }] }, /is about tool calls, and Stop is not/],
      [pre({ type: "callback", callback: "f" }), /needs a function/],
      [pre({ type: "http", url: "ftp://x.example" }), /http\(s\) address/],
      [pre({ type: "http", url: "http://169.254.169.254/latest" }), /not in allowedHttpHookUrls/],
    ];
    for (const [value, expected] of cases) assert.match(problemOf(value), expected);
  });

  it("for events only Claude Code has are told of, unless something hangs on them", () => {
    const { hooks, warnings } = parse({ MessageDisplay: [{ hooks: [command] }], Stop: [{ hooks: [command] }] });
    assert.deepEqual([hooks.length, warnings], [1, ["settings.json: hooks for MessageDisplay never run here"]]);
    for (const more of [{ guard: true }, { onFailure: "block" }])
      assert.match(problemOf({ MessageDisplay: [1, {}, { hooks: [{ ...command, ...more }] }] }), /can neither guard nor block/);
    for (const odd of [1, {}, [1, null], [{ hooks: 3 }], [{ hooks: [null, 1] }]])
      assert.equal(problemOf({ MessageDisplay: odd }), "", "what never runs may look like anything");
  });

  it("wait as long as Claude Code does", () => {
    const { hooks } = parse({
      PreToolUse: [{ hooks: [command, { type: "prompt", prompt: "?" }, { type: "agent", prompt: "?" }] }],
      UserPromptSubmit: [{ hooks: [command] }],
    });
    assert.deepEqual(
      hooks.map(({ timeoutMs }) => timeoutMs / 1000),
      [600, 30, 60, 30],
    );
  });

  it("in a file of Claude Code's: what only its other releases know is told and left out, unless something hangs on it", () => {
    const read = (value: object) => parseHooks([{ value, source: "/p/.claude/settings.json", trusted: true }]);
    const { hooks, warnings } = read({
      NewEvent: [{ hooks: [command] }],
      PreToolUse: [{ matcher: "([", hooks: [command] }, { hooks: [{ ...command, reportsTo: true }] }],
      PostToolUse: [
        {
          hooks: [
            { type: "rune", server: "s", tool: "t" },
            { type: "oracle", riddle: "?" },
          ],
        },
      ],
    });
    assert.equal(hooks.length, 1);
    assert.deepEqual(
      [
        /has no event "NewEvent"/,
        /matcher.*never run/,
        /the type rune/,
        /the type oracle/,
        /has no field "reportsTo".*no effect/,
      ].map((words) => warnings.some((warning) => words.test(warning))),
      [true, true, true, true, true],
    );
    const guard = { ...command, guard: true };
    for (const value of [
      { NewEvent: [{ hooks: [guard] }] },
      { PreToolUse: [{ matcher: "([", hooks: [guard] }] },
      { PreToolUse: [{ hooks: [{ type: "rune", onFailure: "block" }] }] },
    ])
      assert.throws(() => read(value), /can neither guard nor block/);
  });

  it("in a file of Claude Code's: one that would judge is never left out because of its type", () => {
    const read = (event: string, more: object = {}, limits: HookLimits = {}) => {
      const value = { [event]: [{ matcher: "Bash", hooks: [{ type: "oracle", riddle: "?" }] }] };
      return parseHooks([{ value, source: "/p/.claude/settings.json", trusted: true, ...more }], limits);
    };
    for (const event of ["PreToolUse", "PermissionRequest"])
      assert.throws(() => read(event), { code: "config", message: /has the type oracle/, hint: /write it as a command/ });
    assert.equal(read("Stop").warnings.length, 1);
    assert.deepEqual(read("PreToolUse", { trusted: false }).ignored, ["hooks.PreToolUse of /p/.claude/settings.json"]);
    assert.equal(read("PreToolUse", { guardsOnly: true }).hooks.length, 0);
    assert.equal(read("PreToolUse", {}, { disableAllHooks: true }).hooks.length, 0);
  });

  it("are errors with a line where the file knows it", () => {
    const lineOf = (path: readonly (string | number)[]) => (path.join("/") === "hooks/Stop/0/hooks/0" ? 7 : undefined);
    const value = { Stop: [{ hooks: [{ type: "comand" }] }] };
    assert.throws(() => parseHooks([{ value, source: "a.json", trusted: true, lineOf }]), {
      message: /^a\.json:7: hooks\.Stop\[0\]\.hooks\[0\] has the type/,
    });
  });

  it("in a file of Claude Code's: send over http where they say, unless there is a list or they came with a plugin", () => {
    const value = { Stop: [{ hooks: [{ type: "http", url: "https://hooks.example.com/x" }] }] };
    const read = (limits: HookLimits, more: object = {}) =>
      parseHooks([{ value, source: "/p/.claude/settings.json", trusted: true, ...more }], limits).hooks.length;
    assert.equal(read({}), 1);
    assert.equal(read({ allowedHttpHookUrls: ["https://hooks.example.com/*"] }), 1);
    for (const [limits, more] of [
      [{ allowedHttpHookUrls: [] }],
      [{}, { isForeign: true }],
      [{}, { source: "/p/.outrider/settings.json" }],
    ] as const)
      assert.throws(() => read(limits, more), /not in allowedHttpHookUrls/);
  });

  it("send over http only to hosts that are allowed", () => {
    const http = (url: string) => ({ Stop: [{ hooks: [{ type: "http", url }] }] });
    const ok = (url: string, ...allowedHttpHookUrls: string[]) => problemOf(http(url), { allowedHttpHookUrls }) === "";
    assert.deepEqual(
      [
        ok("https://hooks.example.com/ci/a", "https://hooks.example.com/ci/*"),
        ok("https://hooks.example.com/x", "hooks.example.com"),
        ok("http://127.0.0.1:8080/x", "http://127.0.0.1:*"),
        ok("https://a.example.com/x", "https://*.example.com"),
        ok("https://hooks.example.com/other", "https://hooks.example.com/ci/*"),
        ok("http://hooks.example.com/", "https://hooks.example.com"),
        ok("https://evil.com/.example.com", "https://*.example.com"),
        ok("https://evil.com/?x=hooks.example.com", "hooks.example.com"),
        ok("https://hooks.example.com@evil.com/", "https://hooks.example.com*"),
        ok("https://evil.com:443/", "https://hooks.example.com"),
        ok("https://hooks.example.com:8443/", "https://hooks.example.com"),
        ok("https://user:pw@hooks.example.com/", "hooks.example.com"),
        ok("https://hooks.example.com/x"),
        ok("https://hooks.example.com/x", "", "?", "://"),
      ],
      [true, true, true, true, false, false, false, false, false, false, false, false, false, false],
    );
  });

  it("never crash the reader: every value is hooks or a config error", () => {
    const keys = fc.constantFrom(
      "PreToolUse",
      "Stop",
      "matcher",
      "hooks",
      "type",
      "command",
      "timeout",
      "async",
      "if",
      "guard",
      "__proto__",
    );
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom<unknown>("command", "prompt", "Bash", true, 1, null, "(", "*"),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(keys, tie("value"), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(json, (value) => {
        if (problemOf(value) === "") assert.ok(Array.isArray(parse(value).hooks));
      }),
      { numRuns: 5000 },
    );
  });
});
