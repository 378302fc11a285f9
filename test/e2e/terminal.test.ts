import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { bin, launcher, tempFolder } from "./command.ts";

const hasTmux = spawnSync("tmux", ["-V"]).status === 0;
/** What was on the screens, for whoever wants to look at them. */
const screens = join(tmpdir(), "outrider-screens");

const edit = { name: "Edit", input: { file_path: "a.txt", old_string: "old words", new_string: "new words" } };
const todos = [
  { content: "Look", status: "completed", activeForm: "Looking" },
  { content: "Mend", status: "in_progress", activeForm: "Mending" },
  { content: "Tell", status: "pending", activeForm: "Telling" },
];
const replies = [
  {
    text: "First I look at what is there, and then I plan.",
    calls: [
      { name: "TodoWrite", input: { todos } },
      { name: "Read", input: { file_path: "a.txt" } },
    ],
  },
  { text: "Now the change.", calls: [edit, { name: "Bash", input: { command: "rm -rf build" } }] },
  {
    text: "Somebody else has a look.",
    calls: [
      { name: "Task", input: { description: "Check the change", prompt: "Check a.txt", subagent_type: "general-purpose" } },
    ],
  },
  { text: "I read it.", calls: [{ name: "Read", input: { file_path: "a.txt" } }] },
  { text: "The change is fine." },
  { text: "All is done: 日本語 too." },
];

type Screen = { plain: string; coloured: string; raw: string };

/** One run on a terminal of its own, to its end. `meanwhile` is called while it works. */
async function onTerminal(
  name: string,
  {
    columns,
    env = {},
    steps = replies,
    until = /exit \d+/,
    meanwhile,
  }: {
    columns: number;
    env?: Record<string, string>;
    steps?: object[];
    until?: RegExp;
    meanwhile?: (tmux: (...words: string[]) => string, wait: (what: RegExp) => Promise<string>) => Promise<void>;
  },
): Promise<Screen> {
  const folder = tempFolder("terminal");
  writeFileSync(join(folder, "a.txt"), "one\nold words\nthree\n");
  writeFileSync(join(folder, "replies.json"), JSON.stringify(steps));
  const socket = join(folder, "tmux");
  const environment = {
    HOME: folder,
    OUTRIDER_HOME: join(folder, "home"),
    PATH: process.env["PATH"] ?? "",
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
  };
  const tmux = (...words: string[]): string =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...words], { encoding: "utf8", env: environment });
  const set = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  const command = [
    "env",
    ...set,
    launcher,
    bin,
    "-p",
    "Mend it",
    "--provider",
    "scripted",
    "--model",
    "replies.json",
    "--permission-mode",
    "acceptEdits",
    "--sandbox",
    "off",
  ];
  const line = `cd '${folder}' && ${command.map((word) => `'${word}'`).join(" ")}; echo "exit $?"; sleep 600`;
  try {
    tmux("-u", "new-session", "-d", "-x", String(columns), "-y", "60", "sleep 600");
    tmux("pipe-pane", "-o", `cat > '${join(folder, "raw")}'`);
    tmux("respawn-pane", "-k", line);
    const show = (): string => tmux("capture-pane", "-p");
    const wait = async (what: RegExp): Promise<string> => {
      for (let tries = 0; tries < 600; tries++) {
        if (what.test(show())) return show();
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error(`${what} never stood on the screen:\n${show()}`);
    };
    await meanwhile?.(tmux, wait);
    const plain = await wait(until);
    const coloured = tmux("capture-pane", "-p", "-e").replaceAll("\x1b", "␛");
    mkdirSync(screens, { recursive: true });
    writeFileSync(join(screens, `${name}.txt`), plain);
    return { plain, coloured, raw: readFileSync(join(folder, "raw"), "utf8").replaceAll("\x1b", "␛") };
  } finally {
    spawnSync("tmux", ["-S", socket, "kill-server"]); // before its folder goes: nobody finds it after that
  }
}

describe("a run on a terminal", { skip: hasTmux ? false : "there is no tmux: terminals are not tested" }, () => {
  it("tells the model's words, changes, refusals with their reason, the list of what to do, and subagents inside", async () => {
    const { plain, coloured } = await onTerminal("wide", { columns: 100 });
    const order = [
      /First I look at what is there, and then I plan\.\n/,
      /✓ TodoWrite 1 of 3 done\n {4}☑ Look\n {4}▶ Mend\n {4}☐ Tell\n/,
      /✓ Read a\.txt\n/,
      /Now the change\.\n/,
      /✓ Edit a\.txt\n {6}@@ .*\n {6}one\n {4}- old words\n {4}\+ new words\n {6}three\n/,
      /⊘ Bash rm -rf build\n {4}Not permitted: [\s\S]*?Bash\(rm -rf build\)\n/,
      /▸ general-purpose: Check the change\n│ I read it\.\n│ ✓ Read a\.txt\n/,
      /✓ Task Check the change\n/,
      /All is done: 日本語 too\.\n/,
      /outrider: one call was not permitted:\n {2}Bash: Not permitted/,
      /The whole run is recorded in /,
      /✓ done · \d+ turns · [\d.]+ s · .* tokens in, .* out · .* · session [0-9a-f-]+/,
      /exit 0/,
    ];
    let from = 0;
    const joined = plain;
    for (const part of order) {
      const found = part.exec(joined.slice(from));
      assert.ok(found, `${part} is missing after:\n${joined.slice(0, from)}\n--- in:\n${joined}`);
      from += found.index;
    }
    assert.match(coloured, /␛\[31m(?:␛\[49m)? *- old words/);
    assert.match(coloured, /␛\[32m(?:␛\[49m)? *\+ new words/);
    assert.doesNotMatch(plain, /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/, "the moving line is gone");
  });

  it("fits a narrow one, and one that is made smaller while it works", async () => {
    const narrow = await onTerminal("narrow", { columns: 34 });
    assert.match(narrow.plain, /⊘ Bash rm -rf build/);
    assert.match(narrow.plain, /exit 0/);
    const { plain } = await onTerminal("resized", {
      columns: 90,
      steps: [
        {
          text: "Looking for a long time at everything that there is.",
          delayMs: 3000,
          calls: [{ name: "Read", input: { file_path: "a.txt" } }],
        },
        { text: "Done." },
      ],
      meanwhile: async (tmux, wait) => {
        await wait(/thinking · /);
        tmux("resize-window", "-x", "20", "-y", "60");
      },
    });
    assert.match(plain, /✓ Read a\.txt/);
    assert.match(plain, /exit 0/);
    assert.doesNotMatch(plain, /thinking/, "nothing of the moving line is left");
  });

  it("has no colours where none are wanted, and nothing but text on a dumb one", async () => {
    const { raw: plain } = await onTerminal("no-color", { columns: 80, env: { NO_COLOR: "1" } });
    assert.doesNotMatch(plain, /␛\[\d*(?:;\d+)*m/);
    const { raw, plain: shown } = await onTerminal("dumb", { columns: 80, env: { TERM: "dumb" } });
    assert.match(shown, /✓ Edit a\.txt/);
    assert.doesNotMatch(raw, /␛/);
  });
});
