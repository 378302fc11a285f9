import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { bin, eventually, tempFolder } from "./command.ts";
import { hasTmux, openTerminal, type Terminal } from "./tmux.ts";

type Talk = Terminal & {
  readonly cwd: string;
  readonly home: string;
  say(text: string): void;
  /** Of the command. */
  pid(): number;
  events(): Record<string, unknown>[];
};

/** The command alone on a terminal, with a model that says these things. */
function talk(
  replies: readonly object[],
  { args = [], columns, home = join(tempFolder("home"), "home") }: { args?: string[]; columns?: number; home?: string } = {},
): Talk {
  const cwd = tempFolder("talk");
  writeFileSync(join(cwd, "notes.md"), "one\ntwo\n");
  writeFileSync(join(home, "..", "replies.json"), JSON.stringify(replies));
  const model = ["--provider", "scripted", "--model", join(home, "..", "replies.json"), "--sandbox", "off"];
  const terminal = openTerminal([...model, ...args], { cwd, home, ...(columns && { columns }), rows: 40 });
  return {
    ...terminal,
    ...{ cwd, home },
    say(text) {
      terminal.type(text);
      terminal.press("Enter");
    },
    pid() {
      const pane = terminal.tmux("list-panes", "-F", "#{pane_pid}").trim();
      return Number(spawnSync("pgrep", ["-P", pane, "-f", bin], { encoding: "utf8" }).stdout.trim());
    },
    events() {
      const [file = ""] = readdirSync(join(home, "sessions")).filter((name) => name.endsWith(".jsonl"));
      return readFileSync(join(home, "sessions", file), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    },
  };
}

const touch = { text: "I make it.", calls: [{ name: "Bash", input: { command: "touch made.txt" } }] };

describe("a conversation at a terminal", {
  skip: hasTmux ? false : "there is no tmux: terminals are not tested",
  concurrency: 2,
}, () => {
  it("shows answers as Markdown, asks before it runs something, and leaves with the way back", async () => {
    const its = talk([{ text: "# Plan\n- **look**\n- `mend`" }, touch, { text: "It is made." }]);
    await its.wait(/Ctrl-D leaves[\s\S]*›/);
    its.say("make a plan");
    await its.wait(/› make a plan\n\nPlan\n• look\n• mend\n· 1 turn/);
    its.say("do it");
    await its.wait(/I make it\.\n\? Bash\n {2}│ touch made\.txt\n[\s\S]*a letter chooses, Enter says it/);
    assert.equal(existsSync(join(its.cwd, "made.txt")), false);
    await new Promise((resolve) => setTimeout(resolve, 1_200)); // whoever types on has not answered
    its.press("y");
    await its.wait(/› y {2}yes, this once/);
    its.press("Enter");
    await its.wait(/✓ Bash touch made\.txt\nIt is made\.\n· 2 turns/);
    assert.equal(existsSync(join(its.cwd, "made.txt")), true);
    its.keep("conversation");
    its.press("C-d");
    await its.wait(/outrider --resume [\w-]{36} goes on with this conversation\nexit 0/);
    assert.equal(its.events().at(-1)?.["type"], "session.ended");
  });

  it("takes no words that are typed on for an answer, while a question comes", async () => {
    const its = talk([{ ...touch, delayMs: 1_000 }, { text: "Said later." }]);
    await its.wait(/›/);
    its.say("do it");
    for (const letter of "please do it today") {
      its.type(letter);
      await new Promise((resolve) => setTimeout(resolve, 110));
    }
    its.press("Enter");
    await its.wait(/\? Bash[\s\S]*Enter says it/);
    assert.equal(existsSync(join(its.cwd, "made.txt")), false);
  });

  it("runs nothing on a no, and Esc is a no", async () => {
    const its = talk([touch, { text: "So I leave it." }]);
    await its.wait(/›/);
    its.say("do it");
    await its.wait(/Enter says it/);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    its.press("Escape");
    await its.wait(/⊘ Bash touch made\.txt\n {4}Not permitted: the user said no[\s\S]*So I leave it\./);
    assert.equal(existsSync(join(its.cwd, "made.txt")), false);
  });

  it("interrupts with Esc, lets a prompt wait meanwhile, and gives it back for changes", async () => {
    const its = talk([{ text: "never said", delayMs: 60_000 }, { text: "Now this." }]);
    await its.wait(/›/);
    its.say("take your time");
    await its.wait(/thinking · \d+ s · Esc interrupts/);
    its.say("and then thiss");
    await its.wait(/waits: and then thiss/);
    its.press("Up");
    await its.wait(/› and then thiss\n/);
    its.press("BSpace", "Enter");
    await its.wait(/waits: and then this\n/);
    its.press("Escape");
    await its.wait(/· interrupted[\s\S]*› and then this\n\nNow this\./);
  });

  it("completes commands and files", async () => {
    const its = talk([{ text: "Read." }]);
    await its.wait(/›/);
    its.type("/cos");
    await its.wait(/\/cost +What the session has cost so far/);
    its.press("C-u");
    its.type("look at @not");
    await its.wait(/@notes\.md/);
    its.press("Tab");
    await its.wait(/› look at @notes\.md/);
    its.press("Enter");
    await its.wait(/Read\.\n/);
    assert.ok(its.events().some(({ type }) => type === "references.read"));
  });

  it("goes on with an earlier conversation, which it tells again, from the list of sessions too", async () => {
    const home = join(tempFolder("home"), "home");
    const first = talk([{ text: "The first answer." }], { home });
    await first.wait(/›/);
    first.say("the first question");
    await first.wait(/The first answer\./);
    first.say("/exit");
    await first.wait(/exit 0/);
    const again = openTerminal(["sessions", "list", "--all"], { cwd: first.cwd, home });
    await again.wait(/search:[\s\S]*the first question[\s\S]*1 of 1/);
    again.type("question");
    again.press("Escape");
    await again.wait(/exit 0/);
    const [id = ""] = readdirSync(join(home, "sessions")).flatMap((name) => /^([\w-]{36})\.jsonl$/.exec(name)?.[1] ?? []);
    writeFileSync(join(home, "..", "replies.json"), JSON.stringify([{ text: "The second answer." }]));
    const model = ["--provider", "scripted", "--model", join(home, "..", "replies.json")];
    const third = openTerminal([...model, "--resume", id], { cwd: first.cwd, home });
    await third.wait(/› the first question\n\nThe first answer\./);
    third.press("Up", "Enter");
    await third.wait(/The second answer\./);
    assert.match(third.screen(), /› the first question[\s\S]*› the first question\n\nThe second answer\./);
  });

  it("ends whole on SIGTERM in the middle of an answer", async () => {
    const its = talk([{ text: "never said", delayMs: 60_000 }]);
    await its.wait(/›/);
    its.say("take your time");
    await its.wait(/Esc interrupts/);
    process.kill(its.pid(), "SIGTERM");
    await its.wait(/exit 124/);
    const types = its.events().map(({ type }) => type);
    assert.deepEqual([types.filter((type) => type === "turn.ended").length, types.at(-1)], [1, "session.ended"]);
  });

  it("ends whole when its terminal goes away", async () => {
    const its = talk([{ text: "never said", delayMs: 60_000 }]);
    await its.wait(/›/);
    its.say("take your time");
    await its.wait(/Esc interrupts/);
    const pid = its.pid();
    its.vanish();
    await eventually(() => !existsSync(`/proc/${pid}`), "the process ends");
    const types = its.events().map(({ type }) => type);
    assert.deepEqual([types.filter((type) => type === "turn.ended").length, types.at(-1)], [1, "session.ended"]);
  });

  it("keeps its shape when the terminal becomes narrow", async () => {
    const its = talk([{ text: "- some words that need more than one line on a narrow terminal" }], { columns: 80 });
    await its.wait(/›/);
    its.tmux("resize-window", "-x", "34", "-y", "24");
    its.say("go");
    const screen = await its.wait(/• some words that need more than\n {2}one line on a narrow terminal/);
    assert.equal(screen.split("\n").filter((line) => /^─+$/.test(line)).length, 1);
  });

  it("has no conversation where nobody can type: -p, a pipe, a dumb terminal", async () => {
    const replies = join(tempFolder("talk"), "replies.json");
    writeFileSync(replies, "[]");
    const its = openTerminal(["-p", "--provider", "scripted", "--model", replies], {
      cwd: tempFolder("talk"),
      home: tempFolder("home"),
    });
    await its.wait(/There is no prompt[\s\S]*exit 66/);
    const dumb = openTerminal([], { cwd: tempFolder("talk"), home: tempFolder("home"), env: { TERM: "dumb" } });
    await dumb.wait(/TERM=dumb[\s\S]*exit 66/);
  });
});
