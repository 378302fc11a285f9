import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createFileStore } from "../../packages/runtime/src/journal/file-store.ts";
import type { AgentEvent } from "../../packages/runtime/src/protocol/events.ts";
import { eventually, isStandalone, lines, projectRoot, run, start, tempFolder } from "./command.ts";
import { echo, failureOf, idOf, place, usage } from "./stored-sessions.ts";

/** A journal of the format of tomorrow: as of today, but for the number. */
async function writeNewer(sessions: string, source: string): Promise<void> {
  const store = createFileStore(sessions);
  const events = (await store.read(source)).map((event) => ({ ...event, sessionId: "newer" }));
  const journal = await store.open("newer");
  await journal.append(
    events.map((event) => (event.type === "session.started" ? { ...event, journalVersion: 4 } : event) as AgentEvent),
  );
  await journal.close();
}

describe("a journal that cannot be read", () => {
  it("is told of when --continue passes it over, and named with its reason everywhere else", async () => {
    const { ask, sessions, home } = await place(echo);
    const id = idOf(await ask(["one"]));
    await writeNewer(join(home, "sessions"), id);
    writeFileSync(join(home, "sessions", "text.jsonl"), "no journal\n");
    const newer = "The journal of newer has format 4; this version knows formats up to 3";
    const broken = "The journal of text holds nothing that can be read";

    const continued = await ask(["two", "--continue"]);
    assert.equal(idOf(continued), id);
    assert.equal(continued.stderr, `outrider: passed over: ${newer}\noutrider: passed over: ${broken}\n`);

    const list = await sessions(["list", "--json"]);
    assert.deepEqual(
      lines(list.stdout).map((line) => line["id"]),
      [id],
    );
    assert.deepEqual(
      list.stderr.split("\n").map((line) => line.split(". ")[0]),
      [`Not listed: ${newer}`, `Not listed: ${broken}`, ""],
    );
    const [shown, exported, resumed, unknown] = [
      await sessions(["show", "newer"]),
      await sessions(["export", "text"]),
      failureOf(await ask(["three", "--resume", "newer"])),
      failureOf(await ask(["three", "--resume", "nobody"])),
    ];
    assert.deepEqual([shown.code, shown.stderr.split("\n")[0]], [78, `outrider: ${newer}`]);
    assert.deepEqual([exported.code, exported.stderr.split("\n")[0]], [78, `outrider: ${broken}`]);
    assert.deepEqual(resumed.slice(0, 3), [78, "storage-failed", newer]);
    assert.match(String(unknown[3]), /and why 2 of them cannot be read$/);

    const removed = await sessions(["rm", "newer", "text", "--yes", "--json"]);
    assert.deepEqual(
      [removed.code, JSON.parse(removed.stdout)],
      [0, { dryRun: false, removed: ["newer", "text"], kept: [] }],
      "it can still be removed",
    );
  });

  it("is kept aside when somebody resumes it, and the result says where", async () => {
    const { ask, journal, home } = await place(echo);
    const id = idOf(await ask(["one"]));
    const damaged = `XX${readFileSync(journal(id), "utf8")}`;
    writeFileSync(journal(id), damaged);
    const resumed = await ask(["two", "--resume", id]);
    const [code, kind, message] = failureOf(resumed);
    assert.deepEqual([code, kind, lines(resumed.stdout).length], [78, "storage-failed", 1]);
    const keptIn = /kept in (\S+)$/.exec(String(message))?.[1] ?? "";
    assert.equal(readFileSync(join(home, "sessions", keptIn), "utf8"), damaged);
  });
});

describe("a damaged journal", () => {
  it("says on stderr what was lost, for outputs that have no place for it", async () => {
    const { ask, sessions, journal, env, here } = await place(echo);
    const id = idOf(await ask(["one"]));
    idOf(await ask(["two", "--resume", id]));
    const whole = readFileSync(journal(id), "utf8").split("\n");
    const damaged = [...whole.slice(0, 9), "damage", ...whole.slice(10)].join("\n");
    writeFileSync(journal(id), damaged);

    const shown = await sessions(["show", id]);
    const exported = await sessions(["export", id]);
    const words = /Dropped the last \d+ bytes of the journal, which is damaged from line 10 on/;
    assert.match(shown.stdout, new RegExp(`^Damage: +${words.source}$`, "m"));
    assert.match(exported.stderr, new RegExp(`^outrider: ${words.source}$`, "m"));
    assert.equal(readFileSync(journal(id), "utf8"), damaged, "whoever looks changes nothing");

    for (const format of ["text", "json"]) {
      writeFileSync(journal(id), damaged);
      const { code, stderr } = await run(["-p", "three", "--resume", id, "--output-format", format], { env, cwd: here });
      assert.deepEqual([code, words.test(stderr), stderr.split("\n").length], [0, true, 2], format);
    }
    assert.equal((await run(["-p", "four", "--resume", id], { env, cwd: here })).stderr, "", "once");
  });

  it("of the first format opens, and goes on in the present one", async () => {
    const { ask, sessions, journal, said } = await place(echo);
    writeFileSync(join(mkSessions(journal("x")), "old.jsonl"), readFileSync(join(projectRoot, "test/fixtures/journal-v1.jsonl")));
    const before = readFileSync(journal("old"));
    assert.equal(idOf(await ask(["and now?", "--resume", "written long ago"])), "old");
    assert.deepEqual(said(), [
      "user: how many are there?",
      "assistant: Looking.",
      "user: ",
      "assistant: Seven.",
      "user: and now?",
    ]);
    assert.ok(readFileSync(journal("old")).subarray(0, before.length).equals(before));
    const report = JSON.parse((await sessions(["show", "old", "--json"])).stdout);
    assert.deepEqual([report.turns, report.damage, report.spent.modelCalls], [2, [], 3]);
    assert.equal(idOf(await ask(["once more", "--resume", "old"])), "old");
    assert.equal(said().length, 7);
  });
});

function mkSessions(path: string): string {
  const folder = join(path, "..");
  mkdirSync(folder, { recursive: true });
  return folder;
}

describe("going back without a copy", () => {
  it("keeps the id and what came later, and the model sees neither that nor what comes of it", async () => {
    const { ask, said, journal, events, sessions } = await place(echo);
    const costOf = ({ stdout }: { stdout: string }): number => Number(lines(stdout)[0]?.["total_cost_usd"]);
    const first = await ask(["one", "--name", "work"]);
    const id = idOf(first);
    idOf(await ask(["two", "-r", id]));
    const before = readFileSync(journal(id));
    const answer = events(id).find((event) => event.type === "message.ended");
    const back = await ask(["other", "-r", "work", "--resume-session-at", answer?.messageId ?? ""]);
    assert.equal(idOf(back), id);
    assert.deepEqual(said(), ["user: one", "assistant: answer 1", "user: other"]);
    assert.ok(readFileSync(journal(id)).subarray(0, before.length).equals(before));
    assert.ok(costOf(first) > 0 && costOf(back) > costOf(first) * 2.5, "what was left behind was paid for");

    idOf(await ask(["more", "--continue"]));
    assert.deepEqual(said(), ["user: one", "assistant: answer 1", "user: other", "assistant: answer 2", "user: more"]);
    const report = JSON.parse((await sessions(["show", id, "--json"])).stdout);
    assert.deepEqual(
      report.turnList.map(({ prompt, leftBehind }: { prompt: string; leftBehind?: boolean }) => [prompt, leftBehind ?? false]),
      [
        ["one", false],
        ["two", true],
        ["other", false],
        ["more", false],
      ],
    );
    const { messages } = JSON.parse((await sessions(["export", id, "--format", "json"])).stdout);
    assert.equal(messages.length, 6);
    assert.match((await sessions(["export", id, "--format", "markdown"])).stdout, /^\*\*Back to event \d+: /m);

    const second = events(id).findLast((event) => event.type === "turn.ended" && event.seq < (eventOf(events(id))?.seq ?? 0));
    idOf(await ask(["two again", "-r", id, "--resume-session-at", String(second?.seq)]));
    assert.deepEqual(said(), ["user: one", "assistant: answer 1", "user: two", "assistant: answer 2", "user: two again"]);
    const fork = idOf(await ask(["in a copy", "-r", id, "--fork-session"]));
    assert.notEqual(fork, id);
    assert.equal(said().length, 7);
  });

  it("takes every uuid and id that a reader of the stream has seen", async () => {
    const { ask, env, here, said, events } = await place((request, index) =>
      index === 0
        ? { text: "looking", calls: [{ name: "Bash", input: { command: "echo seen" }, callId: "call-1" }], usage }
        : typeof echo === "function"
          ? echo(request, index)
          : { text: "" },
    );
    const first = await run(["-p", "one", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"], {
      env,
      cwd: here,
    });
    const frames = lines(first.stdout);
    const id = String(frames[0]?.["session_id"]);
    const uuids = frames.flatMap(({ type, uuid }) => (type === "assistant" || type === "user" ? [String(uuid)] : []));
    const turnId = events(id).find((event) => event.type === "turn.started")?.turnId ?? "";
    assert.equal(uuids.length, 4); // text, call, result, answer
    const sizes: number[] = [];
    for (const at of [...uuids, "call-1", turnId]) {
      idOf(await ask(["next", "-r", id, "--fork-session", "--resume-session-at", at]));
      sizes.push(said().length);
    }
    assert.deepEqual(sizes, [3, 3, 3, 5, 3, 5]);
  });
});

function eventOf(events: readonly AgentEvent[]): AgentEvent | undefined {
  return events.find((event) => event.type === "session.rewound");
}

describe("forks", () => {
  it("number themselves, and their long texts outlive the original", async () => {
    const long = "long ".repeat(30_000);
    const { ask, sessions, home, server } = await place((request, index) =>
      index === 0 ? { text: long, usage } : typeof echo === "function" ? echo(request, index) : { text: "" },
    );
    const id = idOf(await ask(["one", "--name", "work"]));
    const fork = idOf(await ask(["two", "-r", "work", "--fork-session"]));
    const forkOfFork = idOf(await ask(["three", "-r", fork, "--fork-session"]));
    const listed = lines((await sessions(["list", "--json"])).stdout);
    assert.deepEqual(
      listed.map(({ name }) => name),
      ["work (fork 2)", "work (fork)", "work"],
    );
    assert.equal((await sessions(["rm", id, fork, "--yes"])).code, 0);
    ageBlobs(join(home, "sessions", "blobs"));
    assert.equal((await sessions(["gc"])).code, 0);
    idOf(await ask(["four", "-r", forkOfFork]));
    assert.ok(JSON.stringify(server.requests.at(-1)?.body).includes(long));
    assert.equal((await sessions(["rm", forkOfFork, "--yes"])).code, 0);
    ageBlobs(join(home, "sessions", "blobs"));
    assert.match((await sessions(["gc"])).stdout, /^Removed 1 file with long texts that no journal names/m);
  });

  it("are not made for a run that does not begin", async () => {
    const { ask, env, here, home } = await place(echo);
    const id = idOf(await ask(["one", "--name", "work"]));
    const fork = ["-r", "work", "--fork-session"];
    const stored = (): string[] => readdirSync(join(home, "sessions")).filter((name) => name.endsWith(".jsonl"));
    const codes = [
      (await run(["-p", ...fork], { env, cwd: here, stdin: "" })).code,
      (await ask(["two", ...fork, "--system-prompt-file", "nowhere.txt"])).code,
      (await ask(["two", ...fork, "--session-id", id])).code,
      (await ask(["two", ...fork, "--mcp-config", "{"])).code,
    ];
    assert.deepEqual([codes, stored()], [[66, 64, 64, 78], [`${id}.jsonl`]]);
  });

  it("leave a session byte for byte that is being written to", async () => {
    const { ask, env, here, server, journal } = await place((request, index) =>
      index === 1 ? { hang: true } : typeof echo === "function" ? echo(request, index) : { text: "" },
    );
    const id = idOf(await ask(["one"]));
    const writer = start(["-p", "two", "--resume", id], { env, cwd: here });
    await eventually(() => server.requests.length === 2, "the writer asks its model");
    const digest = (): string =>
      createHash("sha256")
        .update(readFileSync(journal(id)))
        .digest("hex");
    const before = digest();
    const forks = await Promise.all([1, 2, 3].map(() => ask(["fork", "--resume", id, "--fork-session"])));
    assert.equal(new Set(forks.map(idOf)).size, 3);
    assert.equal(digest(), before);
    writer.child.kill("SIGKILL");
    await writer.done;
    assert.equal(idOf(await ask(["three", "--resume", id])), id, "the lock of a dead process is in nobody's way");
  });

  it("go on with what was paid, in json and stream-json", async () => {
    const { ask, env, here } = await place(echo);
    const first = await ask(["one"]);
    const id = idOf(first);
    const costOf = (text: string): number => Number(lines(text).at(-1)?.["total_cost_usd"]);
    const one = costOf(first.stdout);
    const stream = ["-p", "two", "-r", id, "--fork-session", "--output-format", "stream-json", "--verbose"];
    const [resumed, forked] = [await ask(["two", "-r", id]), await run(stream, { env, cwd: here })];
    assert.deepEqual([costOf(resumed.stdout), costOf(forked.stdout)], [one * 2, one * 3]);
    const usageOf = lines(forked.stdout).at(-1)?.["modelUsage"] as Record<string, { inputTokens: number }>;
    assert.deepEqual(
      Object.values(usageOf).map(({ inputTokens }) => inputTokens),
      [300],
    );
  });
});

function ageBlobs(folder: string): void {
  const anHourAgo = new Date(Date.now() - 2 * 3_600_000);
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }))
    utimesSync(join(folder, name), anHourAgo, anHourAgo);
}

describe("tidying up", () => {
  it("makes room on a full disk, and leaves nothing half-written there", {
    skip: isStandalone && "the disk is Node's",
  }, async () => {
    const { ask, sessions, env, home, journal } = await place(echo);
    const [one, two] = [idOf(await ask(["one"])), idOf(await ask(["two"]))];
    rmSync(join(home, "sessions", "index.json"), { force: true });
    const full = { ...env, NODE_OPTIONS: `--require ${fullDisk()}` };
    const listed = await run(["sessions", "list", "--all"], { env: full });
    const renamed = await run(["sessions", "rename", two, "new"], { env: full });
    const removed = await run(["sessions", "rm", one, "--yes"], { env: full });
    assert.deepEqual([listed.code, renamed.code, removed.code], [0, 78, 0], removed.stderr);
    assert.deepEqual(
      readdirSync(join(home, "sessions")).filter((name) => name !== "index.json"),
      [`${two}.jsonl`],
    );
    assert.ok(existsSync(journal(two)));
    assert.equal((await sessions(["list"])).code, 0);
  });

  it("goes on to the next one when one cannot go", async () => {
    const { ask, sessions, journal } = await place(echo);
    const [one, two] = [idOf(await ask(["one"])), idOf(await ask(["two"]))];
    mkdirSync(`${journal(one)}.lock`); // nobody can take it
    const dry = await sessions(["rm", one, two, "--dry-run"]);
    assert.deepEqual([dry.code, dry.stdout, existsSync(journal(two))], [0, `Would remove ${one}\nWould remove ${two}\n`, true]);
    const { code, stdout, stderr } = await sessions(["rm", one, two, "--yes"]);
    assert.deepEqual([code, stdout, existsSync(journal(one))], [1, `Removed ${two}\n`, true]);
    assert.match(stderr, new RegExp(`^outrider: ${one} was not removed: `));
  });

  it("takes names with slashes, spaces, accents and leading dashes", async () => {
    const { ask, sessions } = await place(echo);
    const id = idOf(await ask(["one", "--name", "feat/caf\u00e9  \u2615"]));
    assert.equal(idOf(await ask(["two", "--resume", "Feat/cafe\u0301 \u2615 "])), id);
    const renamed = await sessions(["rename", id, "--json", "--", "--dash"]);
    assert.deepEqual([renamed.code, JSON.parse(renamed.stdout)], [0, { id, name: "--dash" }]);
    assert.equal(idOf(await ask(["three", "--resume=--dash"])), id);
    assert.equal((await sessions(["show", "--", "--dash"])).code, 0);
    assert.match((await sessions(["show", "--dash"])).stderr, /a name that begins with - comes after --/);
  });

  it("reads sessions by ids that are names of files here, and of nothing else", async () => {
    const { ask, home, root, sessions } = await place(echo);
    const id = idOf(await ask(["one"]));
    renameSync(join(home, "sessions", `${id}.jsonl`), join(root, "outside.jsonl"));
    for (const word of ["../../outside", join(root, "outside"), "../../outside.jsonl"]) {
      assert.equal(failureOf(await ask(["two", "--resume", word]))[0], 66, word);
      assert.equal((await sessions(["rm", word, "--yes"])).code, 66, word);
      assert.equal((await sessions(["export", word])).code, 66, word);
    }
    assert.ok(existsSync(join(root, "outside.jsonl")));
  });
});

/** A program to load first: names can be made and removed, but nothing can be written but to the terminal. */
function fullDisk(): string {
  const path = join(tempFolder("full"), "full.cjs");
  writeFileSync(
    path,
    `const fs = require("node:fs");
const fail = (name, real) => (file, ...rest) => {
  if (file === 1 || file === 2) return real(file, ...rest);
  if (typeof file === "string") fs.closeSync(fs.openSync(file, "a"));
  throw Object.assign(new Error("ENOSPC: no space left on device, " + name), { code: "ENOSPC" });
};
for (const name of ["writeSync", "writeFileSync"]) fs[name] = fail(name, fs[name]);
require("node:module").syncBuiltinESMExports();`,
  );
  return path;
}
