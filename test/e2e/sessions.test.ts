import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import type { AgentEvent } from "../../packages/runtime/src/protocol/events.ts";
import { bin, launcher, eventually, lines, run, start } from "./command.ts";
import { echo, failureOf, idOf, place, usage } from "./stored-sessions.ts";

describe("going on with a session", () => {
  it("resumes from another folder under the same id, with everything that was said", async () => {
    const { ask, there, said, journal, sessions } = await place(echo);
    const id = idOf(await ask(["one"]));
    const before = readFileSync(journal(id));
    assert.equal(idOf(await ask(["two", "--resume", id], there)), id);
    assert.deepEqual(said(), ["user: one", "assistant: answer 1", "user: two"]);
    assert.ok(readFileSync(journal(id)).subarray(0, before.length).equals(before), "what was there is still there");
    assert.deepEqual(
      lines((await sessions(["list", "--json"], there)).stdout).map(({ id, turns, cwd }) => ({ id, turns, cwd })),
      [{ id, turns: 2, cwd: there }],
    );
  });

  it("finds a session by its name in any spelling, and by the beginning of its id", async () => {
    const { ask, said } = await place(echo);
    const id = idOf(await ask(["one", "--name", "Nightly build"]));
    assert.equal(idOf(await ask(["two", "-r", "Nightly build"])), id);
    assert.equal(idOf(await ask(["three", "-r", "nightly BUILD"])), id);
    assert.equal(idOf(await ask(["four", "-r", id.slice(0, 8)])), id);
    assert.equal(said().length, 7);
    const [code] = failureOf(await ask(["five", "-r", id.slice(0, 7)]));
    assert.equal(code, 66);
  });

  it("prefers the exact spelling of a name, and lists sessions that cannot be told apart", async () => {
    const { ask } = await place(echo);
    const first = idOf(await ask(["about \u001b[31m apples", "--name", "Twin"]));
    const second = idOf(await ask(["about pears", "--name", "twin"]));
    assert.deepEqual([idOf(await ask(["more", "-r", "Twin"])), idOf(await ask(["more", "-r", "twin"]))], [first, second]);
    const { code, stderr } = await ask(["more", "-r", "TWIN"]);
    assert.equal(code, 64);
    const shown = stderr.split("\n").filter((line) => line.startsWith("  "));
    assert.deepEqual(
      shown.map((line) =>
        line
          .replace(/\d{4}-\d\d-\d\dT[\d:]+Z/, "TIME")
          .split("  ")
          .slice(1),
      ),
      [
        [second, "twin", "TIME", shown[0]?.split("  ")[4], "about pears"],
        [first, "Twin", "TIME", shown[0]?.split("  ")[4], "about \\u001b[31m apples"],
      ],
    );
  });

  it("tells an unknown session with an error result, exit code 66 and the nearest names", async () => {
    const { ask, server } = await place(echo);
    await ask(["one", "--name", "deploy"]);
    assert.deepEqual(failureOf(await ask(["two", "--resume", "deplyo"])), [
      66,
      "not-found",
      "No conversation found with session ID: deplyo",
      "Did you mean deploy? outrider sessions list --all shows what is stored",
    ]);
    assert.equal(server.requests.length, 1, "nothing was asked");
  });

  it("continues the latest session of the folder, and begins one where there is none", async () => {
    const { ask, here, there, said } = await place(echo);
    await ask(["oldest"]);
    const id = idOf(await ask(["old"]));
    await ask(["elsewhere"], there);
    assert.equal(idOf(await ask(["new", "--continue"])), id);
    assert.deepEqual(said(), ["user: old", "assistant: answer 1", "user: new"]);
    const lonely = join(here, "lonely");
    mkdirSync(lonely);
    const begun = await ask(["x", "-c"], lonely);
    assert.notEqual(idOf(begun), id);
    assert.match(begun.stderr, /No conversation found to continue in .*lonely: a new one begins/);
    assert.equal(idOf(await ask(["y", "-c"], lonely)), idOf(begun));
  });

  it("forks into a new session with a name of its own and leaves the original byte for byte", async () => {
    const { ask, said, journal, sessions, events } = await place(echo);
    const id = idOf(await ask(["one", "--name", "work"]));
    const before = readFileSync(journal(id));
    const fork = idOf(await ask(["two", "--resume", "work", "--fork-session"]));
    const named = idOf(await ask(["two", "-c", "--fork-session", "--session-id", "my-fork", "--name", "mine"]));
    assert.deepEqual([fork === id, named], [false, "my-fork"]);
    assert.ok(readFileSync(journal(id)).equals(before));
    assert.deepEqual(said(), ["user: one", "assistant: answer 1", "user: two", "assistant: answer 2", "user: two"]);
    const list = lines((await sessions(["list", "--json"])).stdout);
    assert.deepEqual(
      list.map(({ id, name, forkedFrom }) => ({ id, name, from: (forkedFrom as { sessionId: string } | undefined)?.sessionId })),
      [
        { id: "my-fork", name: "mine", from: fork },
        { id: fork, name: "work (fork)", from: id },
        { id, name: "work", from: undefined },
      ],
    );
    assert.ok(events(fork).every((event) => event.sessionId === fork));
    const taken = await ask(["x", "-r", "work", "--fork-session", "--session-id", "my-fork"]);
    assert.deepEqual([taken.code, readFileSync(journal(id)).equals(before)], [64, true]);
  });

  it("forks at an event: its number, the id of a message, the end of a turn", async () => {
    const { ask, said, events } = await place(echo);
    const id = idOf(await ask(["one"]));
    await ask(["two", "-r", id]);
    const answers = events(id).filter((event) => event.type === "message.ended");
    const turn = events(id).find((event) => event.type === "turn.ended");
    const { seq = 0, messageId = "" } = answers[0] ?? {};
    for (const at of [String(seq), messageId, turn?.turnId ?? ""]) {
      const fork = idOf(await ask(["other", "-r", id, "--fork-session", "--resume-session-at", at]));
      assert.deepEqual(said(), ["user: one", "assistant: answer 1", "user: other"], at);
      assert.equal(events(fork).filter((event) => event.type === "turn.started").length, 2);
    }
    for (const at of ["0", "99999", "no-such-uuid"]) {
      const [code, kind] = failureOf(await ask(["other", "-r", id, "--fork-session", "--resume-session-at", at]));
      assert.deepEqual([code, kind], [66, "not-found"], at);
    }
  });

  it("refuses a second writer, and forks from a session that runs", async () => {
    const { ask, env, here, journal, server, said } = await place((request, index) =>
      index === 1 ? { hang: true } : (echo as (r: typeof request, i: number) => { text: string })(request, index),
    );
    const id = idOf(await ask(["one"]));
    const writer = start(["-p", "two", "--resume", id], { env, cwd: here });
    await eventually(() => server.requests.length === 2, "the first writer asks its model");
    const [code, kind, message, hint] = failureOf(await ask(["three", "--resume", id]));
    assert.deepEqual([code, kind], [1, "session-locked"]);
    assert.match(String(message), new RegExp(`^Session ${id} is in use by process ${writer.child.pid} on `));
    assert.match(String(hint), /fork the session/);
    const before = readFileSync(journal(id));
    const fork = idOf(await ask(["four", "--resume", id, "--fork-session"]));
    assert.notEqual(fork, id);
    assert.ok(readFileSync(journal(id)).equals(before));
    assert.deepEqual(said(), ["user: one", "assistant: answer 1", "user: twofour"]);
    const removal = await run(["sessions", "rm", id, "--yes"], { env });
    assert.deepEqual([removal.code, existsSync(journal(id))], [1, true]);
    assert.match(removal.stderr, /was not removed: .* in use/);
    writer.child.kill("SIGTERM");
    await writer.done;
  });

  it("refuses flags that do not go together before anything is stored", async () => {
    const { ask, home, server } = await place(echo);
    const cases = [
      ["--resume", "x", "--session-id", "y"],
      ["--continue", "--session-id", "y"],
      ["--resume-session-at", "3"],
      ["--resume", "x", "--no-session-persistence"],
      ["--continue", "--no-session-persistence"],
      ["-r", ""],
      ["--session-id", "../../etc/passwd"],
      ["--session-id", "../x", "--no-session-persistence"],
      ["--name", " "],
      ["--name", "two\nlines"],
    ];
    for (const flags of cases) {
      const { code, stdout } = await ask(["hi", ...flags]);
      assert.deepEqual([code, lines(stdout)[0]?.["terminal_reason"]], [64, "usage"], flags.join(" "));
    }
    // Claude Code passes over what has nothing to do.
    for (const flags of [["--fork-session"], ["--resume", "x", "--continue"]])
      assert.equal((await ask(["hi", ...flags, "--flavor", "caliban"])).code, 64, flags.join(" "));
    assert.deepEqual([existsSync(join(home, "sessions")), server.requests.length], [false, 0]);
  });
});

describe("outrider sessions", () => {
  it("lists the sessions of the folder, of another one, of all, and tells where to look", async () => {
    const { ask, sessions, here, there } = await place(echo);
    assert.deepEqual((await sessions(["list"])).stdout, "No session is stored\n");
    const one = idOf(await ask(["first \u001b[2J prompt"]));
    const two = idOf(await ask(["second"], there));
    const columns = (text: string): string[][] =>
      text
        .split("\n")
        .filter(Boolean)
        .map((line) => line.split(/ {2,}/));
    const [own, other, all] = await Promise.all([
      sessions(["list"]),
      sessions(["list", "--cwd", there]),
      sessions(["list", "--all"]),
    ]);
    assert.deepEqual(
      columns(own.stdout).map((row) => [row[0], row[2], row[4]]),
      [[one, "1 turn", "first \\u001b[2J prompt"]],
    );
    assert.deepEqual(
      columns(other.stdout).map((row) => [row[0], row[4]]),
      [[two, "second"]],
    );
    assert.deepEqual(
      columns(all.stdout).map((row) => [row[0], row[4]]),
      [
        [two, there],
        [one, here],
      ],
    );
    const limited = await sessions(["list", "--all", "--limit", "1", "--json"]);
    assert.deepEqual(
      lines(limited.stdout).map(({ id }) => id),
      [two],
    );
    const nowhere = join(here, "nowhere");
    mkdirSync(nowhere);
    assert.equal(
      (await sessions(["list"], nowhere)).stdout,
      `No session worked in ${nowhere}. 2 sessions elsewhere: outrider sessions list --all\n`,
    );
  });

  it("shows turns, tools, and the cost of all runs and of the part before a fork", async () => {
    const { ask, sessions, journal } = await place((_, index) => {
      if (index === 0) return { text: "look", calls: [{ name: "Bash", input: { command: "exit 3" } }], usage };
      return { text: "done", usage };
    });
    const id = idOf(await ask(["one", "--allowedTools", "Bash"]));
    idOf(await ask(["two", "--resume", id]));
    const fork = idOf(await ask(["three", "--resume", id, "--fork-session"]));
    const [shown, copy] = await Promise.all([sessions(["show", id, "--json"]), sessions(["show", fork, "--json"])]);
    const report = JSON.parse(shown.stdout);
    const { turnList, spent } = report;
    assert.deepEqual(
      {
        file: report.file,
        models: report.models,
        turns: turnList.map(({ prompt, outcome, modelCalls, toolCalls }: Record<string, { type?: string }>) => [
          prompt,
          outcome?.type,
          modelCalls,
          toolCalls,
        ]),
        spent: [spent.modelCalls, spent.usage.inputTokens, spent.usage.outputTokens, spent.costUsd],
        tools: report.tools,
        replay: report.replay,
      },
      {
        file: journal(id),
        models: ["anthropic/claude-sonnet-5-5"],
        turns: [
          ["one", "completed", 2, 1],
          ["two", "completed", 1, 0],
        ],
        spent: [3, 300, 30, 0.0009],
        tools: [{ name: "Bash", calls: 1, failed: 1, denied: 0 }],
        replay: { ok: true, issues: [] },
      },
    );
    const forked = JSON.parse(copy.stdout);
    assert.deepEqual([forked.spent.modelCalls, forked.spentBeforeFork, forked.forkedFrom.sessionId], [4, spent, id]);
    const text = (await sessions(["show", fork.slice(0, 12)])).stdout;
    for (const line of [
      /^Session: {3}\S+$/m,
      /^Forked: .* after event \d+$/m,
      /^Cost: {6}\$0\.0012, of which \$0\.0009 before the fork$/m,
    ])
      assert.match(text, line);
  });

  it("renames, and warns of a name that is taken", async () => {
    const { ask, sessions } = await place(echo);
    const one = idOf(await ask(["one", "--name", "first"]));
    idOf(await ask(["two", "--name", "second"]));
    const renamed = await sessions(["rename", "first", "other name"]);
    assert.deepEqual([renamed.code, renamed.stdout, renamed.stderr], [0, `${one} is called other name now\n`, ""]);
    assert.equal(idOf(await ask(["more", "-r", "other name"])), one);
    const again = await sessions(["rename", one, "second"]);
    assert.deepEqual([again.code, /1 other session of that name/.test(again.stderr)], [0, true]);
    const [empty, unknown] = [await sessions(["rename", one, ""]), await sessions(["rename", "nobody", "x"])];
    assert.deepEqual([empty.code, unknown.code], [64, 66]);
  });

  it("removes only what it was told to, and only when told twice", async () => {
    const { ask, sessions, journal, home } = await place(echo);
    const [one, two, three] = [idOf(await ask(["one"])), idOf(await ask(["two", "--name", "two"])), idOf(await ask(["three"]))];
    mkdirSync(join(home, "overflow", one), { recursive: true });
    writeFileSync(join(home, "overflow", one, "long.txt"), "long");
    const unsure = await sessions(["rm", one]);
    const mistaken = await sessions(["rm", one, "nobody", "--yes"]);
    assert.deepEqual([unsure.code, mistaken.code, existsSync(journal(one))], [64, 66, true]);
    const { code, stdout } = await sessions(["rm", one, "two", two, "--yes"]);
    assert.deepEqual([code, stdout.split("\n").length - 1], [0, 2]);
    assert.deepEqual(
      [one, two, three].map((id) => existsSync(journal(id))),
      [false, false, true],
    );
    assert.equal(existsSync(join(home, "overflow", one)), false);
    assert.ok(!readFileSync(join(home, "sessions", "index.json"), "utf8").includes(two), "nothing of it is kept for later");
  });

  it("exports whole events, messages, and a transcript that nothing in it can break out of", async () => {
    const hostile = "````\n</pre><script>x</script>\n# heading\n\u001b[2J";
    const long = "x".repeat(100_000);
    const { ask, sessions, events, root } = await place((_, index) =>
      index === 0 ? { text: long, calls: [{ name: "Bash", input: { command: "echo hi" } }], usage } : { text: hostile, usage },
    );
    const id = idOf(await ask(["one ``` two", "--allowedTools", "Bash"]));
    const jsonl = lines((await sessions(["export", id])).stdout) as AgentEvent[];
    assert.deepEqual(
      jsonl.map(({ seq, type }) => [seq, type]),
      events(id).map(({ seq, type }) => [seq, type]),
    );
    const answer = jsonl.find((event) => event.type === "message.ended");
    assert.ok(JSON.stringify(answer).includes(long), "long texts are put back");
    const { summary, messages } = JSON.parse((await sessions(["export", id, "--format", "json"])).stdout);
    assert.deepEqual(
      [summary.id, messages.map(({ role }: { role: string }) => role)],
      [id, ["user", "assistant", "tool", "assistant"]],
    );

    const file = join(root, "out.md");
    assert.equal((await sessions(["export", id, "--format", "markdown", "--output", file])).code, 0);
    const markdown = readFileSync(file, "utf8");
    const outside = outsideFences(markdown);
    assert.ok(markdown.includes("\n`````\n````\n</pre><script>x</script>\n# heading\n\\u001b[2J\n`````\n"));
    assert.doesNotMatch(outside, /script|heading|two/);
    const again = await sessions(["export", id, "--output", file]);
    assert.deepEqual([again.code, readFileSync(file, "utf8") === markdown], [64, true]);
    assert.equal((await sessions(["export", id, "--output", file, "--force"])).code, 0);
    assert.deepEqual(lines(readFileSync(file, "utf8")), jsonl);
    assert.equal((await sessions(["export", id, "--format", "markdwon"])).code, 64);
  });

  it("collects what nobody needs, shows it first, and leaves sessions alone unless asked", async () => {
    const { ask, sessions, journal, home } = await place(echo);
    const [kept, old] = [idOf(await ask(["kept"])), idOf(await ask(["old"]))];
    const aMonthAgo = new Date(Date.now() - 31 * 24 * 3_600_000);
    const write = (path: string, at = aMonthAgo, text = "waste"): string => {
      const full = join(home, path);
      mkdirSync(join(full, ".."), { recursive: true });
      writeFileSync(full, text);
      utimesSync(full, at, at);
      utimesSync(join(full, ".."), at, at);
      return full;
    };
    const waste = [
      write(`sessions/${kept}.jsonl.damaged-2020-01-01T00-00-00.000Z`),
      write("sessions/gone.jsonl.lock"),
      write("sessions/empty.jsonl", aMonthAgo, ""),
      write("sessions/x.jsonl.1234.tmp"),
      write(`sessions/blobs/aa/${"a".repeat(64)}`),
      write("overflow/gone/long.txt"),
    ];
    const young = [
      write("overflow/running/long.txt", new Date()),
      write(`overflow/${kept}/long.txt`),
      journal(kept),
      journal(old),
    ];
    const there = (): boolean[] => [...waste, ...young].map((path) => existsSync(path));
    const all = Array.from({ length: waste.length + young.length }, () => true);

    const dry = await sessions(["gc", "--dry-run"]);
    assert.deepEqual([dry.code, there()], [0, all]);
    assert.match(dry.stdout, /^Would remove long outputs of a session that is gone: gone \(5 B\)$/m);
    assert.match(dry.stdout, /^Would remove 2 files with long texts that no journal names \(10 B\)\n25 B would be freed$/m);
    const { code, stdout } = await sessions(["gc"]);
    assert.deepEqual([code, there()], [0, [...waste.map(() => false), ...young.map(() => true)]], stdout);
    assert.match(stdout, /^25 B freed$/m);

    rewriteTimes(journal(old), "2020-01-01T00:00:00.000Z");
    const aged = await sessions(["gc", "--older-than", "1d", "--json"]);
    const { removed } = JSON.parse(aged.stdout);
    assert.deepEqual(
      [removed.map(({ kind }: { kind: string }) => kind), existsSync(journal(old)), existsSync(journal(kept))],
      [["session"], false, true],
    );
    assert.equal((await sessions(["gc", "--older-than", "soon"])).code, 64);
  });

  it("does not mind a reader that leaves", async () => {
    const { ask, env } = await place([{ text: "x".repeat(400_000), usage }]);
    const id = idOf(await ask(["one"]));
    const command = `"${launcher}" "${bin}" sessions export ${id} | head -c 10; echo " \${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await promisify(execFile)("bash", ["--norc", "-c", command], {
      env: { ...env, PATH: process.env["PATH"] ?? "" },
    });
    assert.deepEqual([stdout, stderr], ['{"seq":1," 0\n', ""]);
  });

  it("helps, and guesses what was meant", async () => {
    const { sessions } = await place(echo);
    const [help, bare, typo, flag, many] = await Promise.all([
      sessions(["--help"]),
      sessions([]),
      sessions(["lst"]),
      sessions(["list", "--al"]),
      sessions(["show", "one", "two"]),
    ]);
    assert.deepEqual([help.code, help.stdout, bare.code], [0, bare.stdout, 0]);
    assert.match(typo.stderr, /did you mean list\?/);
    assert.match(flag.stderr, /sessions list has no flag --al; did you mean --all\?/);
    assert.deepEqual([typo.code, flag.code, many.code], [64, 64, 64]);
  });
});

/** The lines of a Markdown text that are in no fence. */
function outsideFences(markdown: string): string {
  let fence: string | undefined;
  const outside = markdown.split("\n").filter((line) => {
    const isFence = /^`{3,}$/.test(line);
    if (fence === undefined && isFence) fence = line;
    else if (fence !== undefined && isFence && line.length >= fence.length) fence = undefined;
    else return fence === undefined;
    return false;
  });
  assert.equal(fence, undefined, "every fence is closed");
  return outside.join("\n");
}

/** As if the session had been used then. The old form of a journal, whose lines have no checksums. */
function rewriteTimes(path: string, at: string): void {
  // Without checksums it is a log of version 1, and has to say so.
  const events = lines(readFileSync(path, "utf8")).map(({ crc: _, ...event }) => ({
    ...event,
    at,
    ...(event["type"] === "session.started" && { journalVersion: 1 }),
  }));
  writeFileSync(path, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
}
