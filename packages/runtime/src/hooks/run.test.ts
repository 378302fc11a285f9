import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { EventBody, HookEventName } from "../protocol/events.ts";
import { createLocalWorkspace } from "../workspace/local.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { parseHooks } from "./config.ts";
import type { HookRequest, HookVerdict } from "./hook.ts";
import type { HookPorts } from "./perform.ts";
import { readExports } from "./read-exports.ts";
import { createHookRunner } from "./run.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-hooks-"));
const workspace = createLocalWorkspace({
  root: folder,
  env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
  overflowDirectory: join(folder, "overflow"),
});
after(async () => {
  await workspace.close();
  rmSync(folder, { recursive: true, force: true });
});

type Setup = { allowed?: string[]; ports?: Partial<HookPorts> };

function open(hooks: unknown, { allowed = [], ports = {} }: Setup = {}) {
  const set = parseHooks([{ value: hooks, source: "test", trusted: true }], { allowedHttpHookUrls: allowed });
  const events: EventBody[] = [];
  let ids = 0;
  const runner = createHookRunner(set, {
    workspace,
    askModel: async () => "",
    callServer: async () => "",
    runAgent: async () => "",
    variables: {},
    common: () => ({ session_id: "s" }),
    newId: () => `h${++ids}`,
    clock: () => 0,
    ...ports,
  });
  const run = (event: HookEventName, request: Partial<HookRequest> = {}): Promise<HookVerdict> =>
    runner.run({ event, input: {}, signal: new AbortController().signal, emit: (body) => events.push(body), ...request });
  return { runner, run, events };
}

const only = (...hooks: unknown[]) => ({ PreToolUse: [{ hooks }] });
const bash = (command: string, more: object = {}) => ({ type: "command", command, ...more });
const endings = (events: readonly EventBody[]) =>
  events.flatMap((event) => (event.type === "hook.ended" ? [[event.name, event.status, event.exitCode]] : []));

describe("hooks of the end of a session", () => {
  it("are all told of it, and what they object is told to a person", async () => {
    const { run, events } = open({
      SessionEnd: [{ hooks: [bash("echo bad >&2; exit 2"), bash(`echo '{"continue":false}'`), bash("touch told")] }],
    });
    await run("SessionEnd", { subject: "other" });
    assert.ok(existsSync(join(folder, "told")));
    assert.deepEqual(
      events.flatMap((event) => (event.type === "warning.raised" ? [event.message] : [])),
      ["The SessionEnd:other hook of test said no (bad), which changes nothing"],
    );
  });

  it("are named when they take too long", async () => {
    const { run, events } = open({ SessionEnd: [{ hooks: [bash("exec sleep 30")] }] });
    await assert.rejects(run("SessionEnd", { subject: "other", signal: AbortSignal.timeout(100) }));
    assert.deepEqual(
      events.flatMap((event) => (event.type === "warning.raised" ? [event.message] : [])),
      ["The SessionEnd:other hook of test took too long and was ended"],
    );
  });
});

describe("a command hook", () => {
  it("gets the event as JSON on its standard input, and where the project is", async () => {
    const { run } = open({
      PreToolUse: [
        {
          hooks: [
            bash(
              'cat > seen.json; echo "$CLAUDE_PROJECT_DIR $OUTRIDER_PROJECT_DIR $EXTRA $CLAUDECODE $CLAUDE_CODE_CHILD_SESSION" > env',
            ),
          ],
          env: { EXTRA: "e" },
        },
      ],
    });
    await run("PreToolUse", { subject: "Bash", input: { tool_name: "Bash", tool_input: { command: "ls" } } });
    assert.deepEqual(JSON.parse(readFileSync(join(folder, "seen.json"), "utf8")), {
      session_id: "s",
      hook_event_name: "PreToolUse",
      tool_name: "Bash",
      tool_input: { command: "ls" },
    });
    assert.equal(readFileSync(join(folder, "env"), "utf8"), `${workspace.root} ${workspace.root} e 1 1\n`);
  });

  it("is heard when it fails and says in JSON what it wants, and only then", async () => {
    const deny =
      '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}';
    const { run, events } = open({
      PreToolUse: [
        { matcher: "Json", hooks: [bash(`echo ' ${deny}'; exit 3`)] },
        { matcher: "Words", hooks: [bash(`echo 'see ${deny} and {'; exit 3`)] },
      ],
    });
    assert.deepEqual((await run("PreToolUse", { subject: "Json" })).decision, { effect: "deny", reason: "no" });
    assert.equal((await run("PreToolUse", { subject: "Words" })).decision, undefined);
    assert.deepEqual(endings(events), [
      ["PreToolUse:Json", "blocked", 3],
      ["PreToolUse:Words", "failed", 3],
    ]);
  });

  it("runs outside the box of the model's commands, and so is read what it exports", async () => {
    const places: unknown[] = [];
    const watched: Workspace = {
      ...workspace,
      root: workspace.root,
      run: async (request) => {
        places.push(request.unboxed);
        return await workspace.run(request);
      },
    };
    const { run } = open(only(bash("echo export COLOUR=red > exports")), { ports: { workspace: watched } });
    await run("PreToolUse");
    const { variables } = await readExports(watched, [join(folder, "exports")], new AbortController().signal);
    assert.deepEqual([variables, places], [{ COLOUR: "red" }, [true, true]]);
  });

  it("never has the input in its command line", async () => {
    const { run } = open(only(bash("echo $TOOL_INPUT $ARGUMENTS")));
    await run("PreToolUse", {
      subject: "Bash",
      input: { tool_input: { command: `x'; touch "${folder}/pwned"; $(touch ${folder}/pwned)` } },
    });
    assert.equal(existsSync(join(folder, "pwned")), false);
  });

  it("passes with 0, blocks with 2, and with anything else has failed and is passed over", async () => {
    const { run, events } = open({
      PreToolUse: [
        { matcher: "Zero", hooks: [bash("echo fine")] },
        { matcher: "Two", hooks: [bash('echo \'{"decision":"approve"}\'; echo "not on a Friday" >&2; exit 2')] },
        { matcher: "One", hooks: [bash("echo oops >&2; exit 1")] },
        { matcher: "Missing", hooks: [bash("no-such-program-here")] },
        { matcher: "Killed", hooks: [bash("kill -9 $$")] },
      ],
    });
    const verdicts = [];
    for (const subject of ["Zero", "Two", "One", "Missing", "Killed", "Other"])
      verdicts.push((await run("PreToolUse", { subject })).decision);
    assert.deepEqual(verdicts, [
      undefined,
      { effect: "deny", reason: "not on a Friday" },
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    assert.deepEqual(endings(events), [
      ["PreToolUse:Zero", "ok", 0],
      ["PreToolUse:Two", "blocked", 2],
      ["PreToolUse:One", "failed", 1],
      ["PreToolUse:Missing", "failed", 127],
      ["PreToolUse:Killed", "failed", undefined],
    ]);
    const warnings = events.flatMap((event) => (event.type === "warning.raised" ? [event.message] : []));
    assert.equal(warnings.length, 3);
    assert.match(warnings[0] ?? "", /^The PreToolUse:One hook of test failed \(.*\), and was passed over$/);
  });

  it("is not started for what was given up already, and leaves nothing at the signal it was given", async () => {
    let asked = false;
    const askModel = async (): Promise<string> => {
      asked = true;
      return "";
    };
    const { run } = open(only({ type: "prompt", prompt: "?" }, bash("touch started")), { ports: { askModel } });
    await assert.rejects(run("PreToolUse", { signal: AbortSignal.abort(new Error("given up")) }), /given up/);
    assert.deepEqual([asked, existsSync(join(folder, "started"))], [false, false]);
    const { signal } = new AbortController();
    await open(only(bash("touch started"))).run("PreToolUse", { signal });
    assert.equal(existsSync(join(folder, "started")), true);
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  });

  it("says that it goes on by itself with a whole first line, not with the beginning of one", async () => {
    const { run } = open(only(bash(`printf '{"async": true}'; sleep 0.2; echo ' was the plan'; echo no >&2; exit 2`)));
    assert.deepEqual((await run("PreToolUse")).decision, { effect: "deny", reason: "no" });
  });

  it("fails closed when it is told to", async () => {
    const cases = [
      bash("exit 1"),
      bash("echo '{broken'"),
      bash('echo \'{"decision":"maybe"}\''),
      bash("sleep 30", { timeout: 0.2 }),
    ];
    for (const hook of cases) {
      const { run } = open(only({ ...hook, onFailure: "block" }));
      assert.equal((await run("PreToolUse")).decision?.effect, "deny", JSON.stringify(hook));
      const { run: guarded } = open(only({ ...hook, guard: true }));
      assert.equal((await guarded("PreToolUse")).decision?.effect, "deny", JSON.stringify(hook));
      const { run: lenient } = open(only(hook));
      assert.equal((await lenient("PreToolUse")).decision, undefined, JSON.stringify(hook));
    }
  });

  it("that writes ten megabytes is cut, and that is said", async () => {
    const { run, events } = open({ UserPromptSubmit: [{ hooks: [bash("head -c 10000000 /dev/zero | tr '\\0' x")] }] });
    const { context } = await run("UserPromptSubmit");
    assert.ok((context[0]?.length ?? 0) < 11_000);
    assert.match(context[0] ?? "", /more characters were left out/);
    const ended = events.find((event) => event.type === "hook.ended");
    assert.ok(ended?.type === "hook.ended" && ended.stdout.length < 20_000);
    assert.match(ended.stdout, /more were left out/);
    assert.match(JSON.stringify(events.at(-1)), /wrote too much: 8951424 bytes of its output/);
    const { run: json } = open(
      only(bash(`printf '{"reason":"'; head -c 10000000 /dev/zero | tr '\\0' x; printf '"}'`, { onFailure: "block" })),
    );
    assert.match((await json("PreToolUse")).decision?.reason ?? "", /too long/);
  });

  it("is ended with everything it started when its time is up or the turn is aborted", async () => {
    const controller = new AbortController();
    const pidFile = join(folder, "pid");
    const { run, events } = open(only(bash(`sleep 61.5 & echo $! > ${pidFile}; wait`)));
    const running = run("PreToolUse", { signal: controller.signal });
    await eventually(() => existsSync(pidFile) && readFileSync(pidFile, "utf8").endsWith("\n"));
    controller.abort(new Error("stop"));
    await assert.rejects(running, /stop/);
    const pid = Number(readFileSync(pidFile, "utf8"));
    await eventually(() => !isAlive(pid));
    await eventually(() => endings(events).length === 1);
    assert.deepEqual(endings(events), [["PreToolUse", "cancelled", undefined]]);
  });

  it("may be a program with arguments instead of a line for bash", async () => {
    const { run } = open({ SessionStart: [{ hooks: [bash("echo", { args: ["$HOME", "; ls"] })] }] });
    assert.deepEqual((await run("SessionStart")).context, ["$HOME ; ls"]);
  });
});

describe("hooks of one moment", () => {
  it("run in order, and each sees what the one before made of the input", async () => {
    const seen: unknown[] = [];
    const add = (word: string) => (input: Record<string, unknown>) => {
      seen.push(input["tool_input"]);
      const before = input["tool_input"] as { command: string };
      return { hookSpecificOutput: { updatedInput: { command: `${before.command} ${word}` } } };
    };
    const { run } = open(only(add("a"), add("b")));
    const { updatedInput } = await run("PreToolUse", { input: { tool_input: { command: "x" } } });
    assert.deepEqual([seen, updatedInput], [[{ command: "x" }, { command: "x a" }], { command: "x a b" }]);
  });

  it("are each run once, however often the same one is written and whichever matcher finds it", async () => {
    const count = bash("echo x >> counted");
    const { run, events } = open({
      PreToolUse: [
        { matcher: "Bash", hooks: [count, count] },
        { matcher: "*", hooks: [count] },
        { hooks: [count], env: { A: "b" } },
      ],
    });
    for (let moment = 0; moment < 2; moment++) await run("PreToolUse", { subject: "Bash" });
    assert.equal(readFileSync(join(folder, "counted"), "utf8"), "x\nx\nx\nx\n", "another environment is another hook");
    assert.equal(endings(events).length, 4);
  });

  it("end with the first no; the strictest word counts", async () => {
    let later = 0;
    const say = (permissionDecision: string) => () => ({
      hookSpecificOutput: { permissionDecision, permissionDecisionReason: permissionDecision },
    });
    const count = () => {
      later++;
    };
    assert.equal((await open(only(say("allow"), say("ask"), say("allow"))).run("PreToolUse")).decision?.effect, "ask");
    assert.equal((await open(only(say("allow"), say("deny"), count)).run("PreToolUse")).decision?.effect, "deny");
    assert.equal(later, 0);
  });

  it("are all heard where a block is a word to the model", async () => {
    const object = (reason: string) => () => ({ decision: "block", reason });
    const { run } = open({ PostToolUse: [{ hooks: [object("format it"), object("test it")] }] });
    assert.deepEqual((await run("PostToolUse")).decision, { effect: "deny", reason: "format it\ntest it" });
  });

  it("have guards last, which judge the final input and cannot change it", async () => {
    const judged: unknown[] = [];
    const guard = (output: unknown) => ({
      type: "callback",
      guard: true,
      callback: (input: Record<string, unknown>) => {
        judged.push(input["tool_input"]);
        return output;
      },
    });
    const change = () => ({ hookSpecificOutput: { updatedInput: { command: "changed" } } });
    await open(only(guard({}), change)).run("PreToolUse", { input: { tool_input: { command: "given" } } });
    assert.deepEqual(judged, [{ command: "changed" }]);
    const meddling = await open(only(guard({ hookSpecificOutput: { updatedInput: {} } }))).run("PreToolUse");
    assert.equal(meddling.decision?.effect, "deny");
  });

  it("run for matching names only", async () => {
    const { run, events } = open({ SessionStart: [{ matcher: "resume", hooks: [bash("echo again")] }] });
    assert.deepEqual((await run("SessionStart", { subject: "startup" })).context, []);
    assert.deepEqual((await run("SessionStart", { subject: "resume" })).context, ["again"]);
    assert.equal(endings(events).length, 1);
  });

  it("know tools under their other names", async () => {
    const { run } = open({ PreToolUse: [{ matcher: "Task|Bash", hooks: [() => ({ decision: "block" })] }] });
    const effects = [];
    for (const subject of ["Agent", "Shell", "Read"]) effects.push((await run("PreToolUse", { subject })).decision?.effect);
    assert.deepEqual(effects, ["deny", "deny", undefined]);
    for (const matcher of ["Edit", "Write", "^Edit$"]) {
      const editing = open({ PreToolUse: [{ matcher, hooks: [() => ({ decision: "block" })] }] });
      assert.equal((await editing.run("PreToolUse", { subject: "apply_patch" })).decision?.effect, "deny", matcher);
    }
  });

  it("with a condition run for calls the rule would catch", async () => {
    const { run } = open({
      PreToolUse: [{ hooks: [{ type: "callback", if: "Bash(git push:*)", callback: () => ({ decision: "block" }) }] }],
    });
    const decisions = [];
    for (const caught of [true, false])
      decisions.push(
        (await run("PreToolUse", { subject: "Bash", concerns: async (rule) => caught && rule.tool === "Bash" })).decision?.effect,
      );
    assert.deepEqual(decisions, ["deny", undefined]);
  });

  it("without a condition run for every call of their matcher", async () => {
    const { run } = open(only(() => ({ decision: "block" })));
    assert.equal((await run("PreToolUse", { concerns: async () => false })).decision?.effect, "deny");
  });

  it("may name the session where it begins and where somebody speaks, and nowhere else", async () => {
    const name = () => ({ hookSpecificOutput: { sessionTitle: "Release 2" } });
    const { run, events } = open({ SessionStart: [{ hooks: [name] }], PreToolUse: [{ hooks: [name] }] });
    await run("PreToolUse");
    await run("SessionStart");
    assert.deepEqual(events, [{ type: "session.named", name: "Release 2" }]);
  });

  it("are callbacks without events, and one that throws has failed", async () => {
    const crash = () => {
      throw new Error("boom");
    };
    const { run, events } = open(only(crash, () => ({})));
    await run("PreToolUse");
    assert.deepEqual(
      events.map((event) => event.type),
      ["warning.raised"],
    );
    const closed = await open(only({ type: "callback", callback: crash, onFailure: "block" })).run("PreToolUse");
    assert.match(closed.decision?.reason ?? "", /boom/);
  });

  it("tell a callback which call it is about, when there is one", async () => {
    const told: unknown[] = [];
    const { run } = open(only((_: unknown, { signal, ...rest }: { signal: AbortSignal }) => void told.push(rest)));
    await run("PreToolUse");
    await run("PreToolUse", { callId: "c1" });
    assert.deepEqual(told, [{}, { toolUseId: "c1" }]);
  });

  it("do not wait for a callback that never answers", async () => {
    const hang = { type: "callback", timeout: 0.05, onFailure: "block", callback: () => new Promise(() => {}) };
    const { run, events } = open(only(hang));
    assert.match((await run("PreToolUse")).decision?.reason ?? "", /0\.05 s/);
    const [warning] = events;
    assert.match(
      warning?.type === "warning.raised" ? warning.message : "",
      /^The PreToolUse hook of test timed out \(.*\), so it blocks$/,
    );
  });
});

describe("a hook in the background", () => {
  it("is waited for where its objection is to be heard", async () => {
    const { run } = open(only(bash("echo again >&2; exit 2", { async: true, asyncRewake: true })));
    const { decision } = await run("PreToolUse");
    assert.deepEqual([decision?.effect, decision?.reason], ["deny", "again"]);
  });

  it("changes nothing, is waited for by nobody, and tells its end when it comes", async () => {
    const gate = join(folder, "gate-1");
    const { run, runner, events } = open(only(bash(`until [ -e ${gate} ]; do sleep 0.02; done; exit 2`, { async: true })));
    assert.deepEqual(await run("PreToolUse"), { context: [] });
    assert.deepEqual(
      events.map((event) => event.type),
      ["hook.started"],
    );
    await workspace.writeFile(gate, "");
    await runner.close(10_000);
    assert.deepEqual(endings(events), [["PreToolUse", "blocked", 2]]);
  });

  it("may say so itself in its first line, and then outlives an abort", async () => {
    const gate = join(folder, "gate-2");
    const controller = new AbortController();
    const { run, runner, events } = open(
      only(bash(`echo '{"async": true}'; until [ -e ${gate} ]; do sleep 0.02; done; echo done`)),
    );
    assert.deepEqual(await run("PreToolUse", { signal: controller.signal }), { context: [] });
    controller.abort();
    await workspace.writeFile(gate, "");
    await runner.close(10_000);
    assert.deepEqual(
      events.map((event) => (event.type === "hook.ended" ? [event.status, event.stdout] : event.type)),
      ["hook.started", ["ok", '{"async": true}\ndone\n']],
    );
  });

  it("holds the end of a session only until it has ended itself", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const { run, runner } = open(only(bash("true", { async: true })));
    const before = timers();
    await run("PreToolUse");
    await runner.close(60_000);
    assert.ok(timers() <= before);
  });

  it("is ended when the session does not wait for it any longer", async () => {
    const { run, runner, events } = open(only(bash("sleep 62.5", { async: true })));
    await run("PreToolUse");
    await runner.close(50);
    assert.deepEqual(endings(events), [["PreToolUse", "cancelled", undefined]]);
  });
});

describe("an http hook", () => {
  it("posts its input, reads the answer, and fills in only the variables it lists", async () => {
    const { url, requests } = await serve((_, respond) => respond(200, '{"decision":"block","reason":"remote no"}'));
    const headers = { authorization: "Bearer $HOOK_TOKEN", "x-other": "$OTHER" };
    const { run } = open(only({ type: "http", url: `${url}/check`, headers, allowedEnvVars: ["HOOK_TOKEN"] }), {
      allowed: [`${url}/*`],
      ports: { variables: { HOOK_TOKEN: "t0", OTHER: "secret" } },
    });
    const { decision } = await run("PreToolUse", { input: { tool_name: "Bash" } });
    assert.deepEqual(decision, { effect: "deny", reason: "remote no" });
    assert.deepEqual(requests, [
      {
        method: "POST",
        path: "/check",
        authorization: "Bearer t0",
        other: "",
        body: { session_id: "s", hook_event_name: "PreToolUse", tool_name: "Bash" },
      },
    ]);
  });

  it("lists no variable of its own accord: a header speaks of none", async () => {
    const { url, requests } = await serve((_, respond) => respond(200, "{}"));
    const { run } = open(only({ type: "http", url, headers: { authorization: "Bearer $HOOK_TOKEN" } }), {
      allowed: ["127.0.0.1:*"],
      ports: { variables: { HOOK_TOKEN: "t0" } },
    });
    await run("PreToolUse");
    assert.deepEqual(
      requests.map(({ authorization }) => authorization),
      ["Bearer"],
    );
  });

  it("may answer with a megabyte, and no more", async () => {
    const answer = '{"decision":"block","reason":"long"}';
    const reasons: (string | undefined)[] = [];
    for (const length of [1024 * 1024, 1024 * 1024 + 1]) {
      const { url } = await serve((_, respond) => respond(200, answer.padEnd(length)));
      const { run } = open(only({ type: "http", url, onFailure: "block" }), { allowed: ["127.0.0.1:*"] });
      reasons.push((await run("PreToolUse")).decision?.reason);
    }
    assert.equal(reasons[0], "long");
    assert.match(reasons[1] ?? "", /longer than 1048576 bytes/);
  });

  it("follows no redirect", async () => {
    const target = await serve((_, respond) => respond(200, "{}"));
    const { url } = await serve((_, respond) => respond(302, "", { location: `${target.url}/elsewhere` }));
    const { run } = open(only({ type: "http", url: `${url}/`, onFailure: "block" }), { allowed: ["127.0.0.1:*"] });
    assert.match((await run("PreToolUse")).decision?.reason ?? "", /redirect/);
    assert.deepEqual(target.requests, []);
  });

  it("has failed when the answer is an error, too long, late, or none", async () => {
    const failing = await serve((_, respond) => respond(500, "down"));
    const long = await serve((_, respond) => respond(200, "x".repeat(2_000_000)));
    const late = await serve(() => {});
    const reasons: (string | undefined)[] = [];
    for (const url of [failing.url, long.url, late.url, "http://127.0.0.1:1"]) {
      const { run } = open(only({ type: "http", url, onFailure: "block", timeout: 1 }), { allowed: ["127.0.0.1:*"] });
      reasons.push((await run("PreToolUse")).decision?.reason);
    }
    const expected = [/status 500/, /longer than/, /within 1 s/, /127\.0\.0\.1:1 could not be reached: bad port/];
    assert.deepEqual(
      expected.map((words, index) => words.test(reasons[index] ?? "")),
      [true, true, true, true],
      reasons.join("\n"),
    );
  });
});

describe("a hook that asks a model", () => {
  it("blocks on no, with the input where the prompt wants it", async () => {
    const asked: string[] = [];
    const ports: Partial<HookPorts> = {
      askModel: async ({ prompt, model }) => {
        asked.push(`${model}: ${prompt}`);
        return '{"ok": false, "reason": "risky"}';
      },
      runAgent: async ({ prompt, maxTurns }) => {
        asked.push(`${maxTurns}: ${prompt}`);
        return '{"ok": true}';
      },
    };
    const { run } = open(
      only({ type: "agent", prompt: "Look.", maxTurns: 3 }, { type: "prompt", prompt: "Is $ARGUMENTS safe?", model: "small" }),
      { ports },
    );
    const { decision } = await run("PreToolUse", { input: { tool_name: "Bash" } });
    const json = '{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash"}';
    assert.deepEqual(decision, { effect: "deny", reason: "risky" });
    assert.deepEqual(asked, [`3: Look.\n\n${json}`, `small: Is ${json} safe?`]);
  });

  it("has failed when the model says something else", async () => {
    const { run } = open(only({ type: "prompt", prompt: "?", guard: true }), { ports: { askModel: async () => "sure" } });
    assert.match((await run("PreToolUse")).decision?.reason ?? "", /did not answer/);
  });
});

type Seen = {
  method: string | undefined;
  path: string | undefined;
  authorization: string | undefined;
  other: unknown;
  body: unknown;
};
type Respond = (status: number, body: string, headers?: Record<string, string>) => void;

async function serve(handle: (request: IncomingMessage, respond: Respond) => void): Promise<{ url: string; requests: Seen[] }> {
  const requests: Seen[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { authorization } = request.headers;
    requests.push({
      method: request.method,
      path: request.url,
      authorization,
      other: request.headers["x-other"],
      body: JSON.parse(text),
    });
    handle(request, (status, body, headers = {}) => {
      response.writeHead(status, headers);
      response.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function eventually(check: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (check()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("never happened");
}

describe("hooks that ask an MCP server", () => {
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: as they stand in files
  const hook = {
    type: "mcp_tool",
    server: "guard",
    tool: "look",
    input: { what: ["${tool_input.command}!", "${tool_input.none}", "${tool_input.none.more}", "${tool_input.command.0}"], n: 1 },
  };
  const call = { input: { tool_name: "Bash", tool_input: { command: "ls", deep: { list: ["a", 2] } } } };

  it("fill their input in from what they are told, and are heard like a command", async () => {
    const calls: unknown[] = [];
    const answer = { hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: "not now" } };
    const { run, events } = open(
      only({ ...hook, input: { ...hook.input, deep: "${tool_input.deep.list.1} ${tool_input.deep}" } }),
      {
        ports: {
          callServer: async ({ server, tool, input }) => {
            calls.push([server, tool, input]);
            return JSON.stringify(answer);
          },
        },
      },
    );
    const { decision } = await run("PreToolUse", call);
    const input = { what: ["ls!", "", "", ""], n: 1, deep: '2 {"list":["a",2]}' };
    assert.deepEqual([decision, calls], [{ effect: "deny", reason: "not now" }, [["guard", "look", input]]]);
    assert.deepEqual(endings(events), [["PreToolUse", "blocked", 0]]);
  });

  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: from here on none
  it("are passed over when the server fails, and block where a failure is to", async () => {
    const ports = {
      callServer: async () => {
        throw new Error("it is not connected");
      },
    };
    const passed = open(only(hook), { ports });
    assert.equal((await passed.run("PreToolUse", call)).decision, undefined);
    assert.deepEqual(endings(passed.events), [["PreToolUse", "failed", 1]]);
    const { decision } = await open(only({ ...hook, onFailure: "block" }), { ports }).run("PreToolUse", call);
    assert.equal(decision?.effect, "deny");
  });
});

describe("a function that judges calls and does not answer in time", () => {
  const never = { type: "callback", callback: () => new Promise(() => {}), timeout: 0.05 };

  it("has not said yes: the call does not run, unless it was asked to go on", async () => {
    const { decision } = await open(only(never)).run("PreToolUse");
    assert.match(decision?.effect === "deny" ? decision.reason : "", /did not answer: it did not end within 0.05 s/);
    assert.equal((await open(only({ ...never, onFailure: "continue" })).run("PreToolUse")).decision, undefined);
    assert.equal((await open({ PostToolUse: [{ hooks: [never] }] }).run("PostToolUse")).decision, undefined);
  });
});
