import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { run } from "./command.ts";
import { echo, idOf, place, usage } from "./stored-sessions.ts";

type Row = { key: string; sessions: number; calls: number; usage: typeof usage; costUsd: number | null; knownUsd: number };
type Report = { rows: Row[]; total: Row; unpricedModels: string[]; unreadable: string[]; since: string | null };

const ownPrice = { models: [{ provider: "anthropic", model: "nobody-knows-this", price: { input: 1000, output: 5000 } }] };

describe("outrider usage", () => {
  it("counts answers of subagents once, and what a fork has copied not again", async () => {
    const task = { name: "Task", input: { description: "Look", prompt: "Look around", subagent_type: "general-purpose" } };
    const replies = [
      { text: "I ask.", calls: [task], usage },
      { text: "Seen.", usage },
      { text: "Done.", usage },
    ];
    let asked = 0;
    const { env, here, ask } = await place(() => replies[asked++] ?? { text: "More.", usage });
    const first = idOf(await ask(["--model", "claude-sonnet-4-5", "Work"]));
    const report = async (): Promise<Report> => JSON.parse((await run(["usage", "--json"], { env, cwd: here })).stdout);
    const before = await report();
    assert.deepEqual([before.total.calls, before.total.sessions, before.total.usage.inputTokens], [3, 1, 300]);
    assert.equal(before.total.costUsd, (3 * (100 * 3 + 10 * 15)) / 1e6, "three dollars per million in, fifteen out");
    idOf(await ask(["--model", "claude-sonnet-4-5", "--resume", first, "--fork-session", "On"]));
    idOf(await ask(["--model", "claude-sonnet-4-5", "--resume", first, "On"]));
    const after = await report();
    assert.deepEqual([after.total.calls, after.total.sessions, after.total.usage.inputTokens], [5, 2, 500]);
    assert.deepEqual(after.unpricedModels, []);
  });

  it("groups by day, model and project, and tells which prices nobody knows", async () => {
    const { root, home, env, here, there, ask } = await place(echo);
    mkdirSync(join(there, ".git"));
    mkdirSync(join(there, "inner"));
    idOf(await ask(["--model", "claude-sonnet-4-5", "One"]));
    idOf(await ask(["--model", "nobody-knows-this", "Two"], there));
    idOf(await ask(["--model", "nobody-knows-this", "Three"], join(there, "inner")));
    const rows = async (...args: string[]): Promise<unknown[]> => {
      const { stdout } = await run(["usage", "--json", ...args], { env, cwd: root });
      return (JSON.parse(stdout) as Report).rows.map(({ key, calls, costUsd }) => [key, calls, costUsd]);
    };
    assert.deepEqual(await rows("--by", "project"), [
      [here, 1, 0.00045],
      [there, 2, null],
    ]);
    assert.deepEqual(await rows("--by", "model"), [
      ["anthropic/claude-sonnet-4-5", 1, 0.00045],
      ["anthropic/nobody-knows-this", 2, null],
    ]);
    assert.equal((await rows("--by", "day", "--since", "today")).length, 1);
    assert.deepEqual(await rows("--since", "2999-01-01"), []);
    const shown = await run(["usage"], { env, cwd: root });
    assert.match(shown.stdout, /^\d{4}-\d\d-\d\d {2}≥ \$0\.0004 {2}300 in {2}30 out {2}█+\ntotal/);
    assert.match(shown.stdout, /2 answers have no known price: anthropic\/nobody-knows-this/);
    writeFileSync(join(home, "models.json"), JSON.stringify(ownPrice));
    assert.deepEqual((await rows("--by", "model"))[0], ["anthropic/nobody-knows-this", 2, 0.3]);
  });

  it("reads on where it stopped, does without what it kept, and names what it cannot read", async () => {
    const { home, env, ask, journal } = await place(echo);
    const one = idOf(await ask(["One"]));
    idOf(await ask(["Two"]));
    const kept = join(home, "sessions", "spending.json");
    const calls = async (): Promise<number> => JSON.parse((await run(["usage", "--json"], { env })).stdout).total.calls;
    assert.equal(await calls(), 2);
    assert.ok(existsSync(kept));
    idOf(await ask(["--resume", one, "Three"]));
    assert.equal(await calls(), 3);
    writeFileSync(kept, readFileSync(kept, "utf8").replace("100", "900"));
    assert.equal(await calls(), 3);
    rmSync(kept);
    writeFileSync(journal(one), "no journal\n");
    const { stdout, stderr, code } = await run(["usage", "--json"], { env });
    assert.deepEqual([code, JSON.parse(stdout).total.calls, JSON.parse(stdout).unreadable], [0, 1, [one]]);
    assert.match(stderr, /not counted: The journal of .* holds nothing that can be read/);
  });

  it("says what is wrong with its words", async () => {
    const { env } = await place(echo);
    assert.match((await run(["usage"], { env })).stdout, /^No stored session has asked a model\n$/);
    for (const [args, words] of [
      [["--by", "hour"], /--by takes day, model, project, not "hour"/],
      [["--since", "2026-02-31"], /--since takes 7d/],
      [["--jsn"], /usage does not take --jsn; did you mean --json\?/],
    ] as const) {
      const { code, stderr } = await run(["usage", ...args], { env });
      assert.equal(code, 64);
      assert.match(stderr, words);
    }
  });
});
