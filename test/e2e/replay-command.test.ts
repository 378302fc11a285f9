import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { run } from "./command.ts";
import { idOf, place } from "./stored-sessions.ts";
import { hasTmux, openTerminal } from "./tmux.ts";

const edit = { name: "Edit", input: { file_path: "a.txt", old_string: "old words", new_string: "new words" } };
const task = { name: "Task", input: { description: "Check it", prompt: "Check a.txt", subagent_type: "general-purpose" } };
const replies = [
  { text: "First I look.", calls: [{ name: "Read", input: { file_path: "a.txt" } }] },
  { text: "Now the change.", calls: [edit, { name: "Bash", input: { command: "rm -rf build" } }] },
  { text: "Somebody checks.", calls: [task] },
  { text: "I read it.", calls: [{ name: "Read", input: { file_path: "a.txt" } }] },
  { text: "It is fine." },
  { text: "All is done: \u001b]0;title\u0007\u001b[31mred" },
];

async function oneRun() {
  let asked = 0;
  const its = await place(() => replies[asked++] ?? { text: "More." });
  writeFileSync(join(its.here, "a.txt"), "one\nold words\nthree\n");
  const id = idOf(await its.ask(["--permission-mode", "acceptEdits", "--sandbox", "off", "Mend it"]));
  return { ...its, id };
}

const told = [
  "> Mend it",
  "First I look.",
  "✓ Read a.txt",
  "Now the change.",
  "✓ Edit a.txt",
  "    - old words",
  "    + new words",
  "⊘ Bash rm -rf build",
  "Somebody checks.",
  "▸ general-purpose: Check it",
  "│ I read it.",
  "│ ✓ Read a.txt",
  "✓ Task Check it",
  "All is done: \\u001b]0;title\\u0007\\u001b[31mred",
];

function assertInOrder(text: string, lines: readonly string[]): void {
  let from = 0;
  for (const line of lines) {
    const found = text.indexOf(`${line}\n`, from);
    assert.notEqual(found, -1, `${line} is missing after:\n${text.slice(0, from)}\n--- in:\n${text}`);
    from = found + line.length;
  }
}

describe("outrider replay", () => {
  it("tells a session through a pipe as the run was told, in plain words", async () => {
    const { env, here, id } = await oneRun();
    const { stdout, code, stderr } = await run(["replay", id.slice(0, 8)], { env, cwd: here });
    assert.equal(code, 0, stderr);
    assertInOrder(stdout, told);
    assert.match(stdout, /✓ done · 4 turns · [\d.]+ s\n$/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    assert.doesNotMatch(stdout, /[\x00-\x09\x0b-\x1f]/);
  });

  it("tells a log of ours and a trajectory from files", async () => {
    const { env, here, id, root, journal } = await oneRun();
    const copy = join(root, "copy.log");
    const trajectory = join(root, "run.json");
    writeFileSync(copy, (await run(["sessions", "export", id], { env })).stdout);
    writeFileSync(trajectory, (await run(["trajectory", "export", id], { env })).stdout);
    const whole = (await run(["replay", id], { env, cwd: here })).stdout;
    assert.equal((await run(["replay", journal(id)], { env, cwd: here })).stdout, whole);
    for (const file of [copy, trajectory]) {
      const { stdout, stderr } = await run(["replay", file], { env, cwd: here });
      assert.equal(stderr, "");
      assertInOrder(stdout, told);
    }
  });

  it("says what is wrong with its words", async () => {
    const { env } = await place([]);
    for (const [args, words, exit] of [
      [[], /replay takes one session or file/, 64],
      [["x", "--speed", "fast"], /--speed takes a number like 4x/, 64],
      [["x", "--max-pause", "soon"], /--max-pause takes a time/, 64],
      [["x", "--step"], /--step needs a terminal/, 64],
      [["x", "--stp"], /did you mean --step\?/, 64],
      [["no-such-session"], /no-such-session/, 66],
    ] as const) {
      const { code, stderr } = await run(["replay", ...args], { env });
      assert.match(stderr, words);
      assert.equal(code, exit);
    }
  });

  const skip = hasTmux ? false : "there is no tmux: terminals are not tested";
  it("goes step by step, and can be left", { skip }, async () => {
    const { home, here, id } = await oneRun();
    const { press, wait, keep } = openTerminal(["replay", id, "--step"], { cwd: here, home });
    const first = await wait(/Enter: next · g: to the end · q: leave · 0:\d\d of \d+:\d\d/);
    assert.doesNotMatch(first, /First I look/);
    press("Enter", "Space", "Enter");
    assert.doesNotMatch(await wait(/First I look/), /Now the change/);
    keep("replay-step");
    press("g");
    await wait(/✓ done · 4 turns/);
    assertInOrder(await wait(/exit 0/), told);
    const other = openTerminal(["replay", id, "--step"], { cwd: here, home });
    await other.wait(/Enter: next/);
    other.press("q");
    assert.doesNotMatch(await other.wait(/exit 0/), /Enter: next|First I look/);
  });

  it("keeps the time of the run, shortened, in colours where they are wanted", { skip }, async () => {
    const { home, here, id } = await oneRun();
    const fast = openTerminal(["replay", id, "--speed", "1000x"], { cwd: here, home, columns: 60 });
    assert.match(await fast.wait(/exit 0/), /✓ done/);
    assert.match(fast.painted(), /␛\[32m(?:␛\[49m)? *\+ new words/);
    fast.keep("replay-timed");
    const paused = openTerminal(["replay", id, "--speed", "0.001", "--max-pause", "1m"], {
      cwd: here,
      home,
      env: { NO_COLOR: "1" },
    });
    await paused.wait(/space: pause · Enter: next · q: leave/);
    paused.press("Space");
    await paused.wait(/paused · space: go on/);
    paused.press("Enter", "g");
    await paused.wait(/exit 0/);
    assert.doesNotMatch(paused.painted(), /␛\[3\dm/);
  });
});
