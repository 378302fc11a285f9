import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createCheckpoints } from "../../packages/runtime/src/checkpoints/checkpoints.ts";
import { lines, run, tempFolder } from "./command.ts";

/** A session of two turns: the first edits a.txt and runs a command, the second edits it again and creates new.txt. */
async function session() {
  const root = realpathSync(tempFolder("checkpoints"));
  const home = join(root, "home");
  const project = join(root, "project");
  mkdirSync(project);
  const path = (name: string): string => join(project, name);
  writeFileSync(path("a.txt"), "zero");
  chmodSync(path("a.txt"), 0o644); // whatever the umask is
  const checkpoints = createCheckpoints({ directory: join(home, "checkpoints"), sessionId: "s1", root: project, sync: false });
  const write = (name: string, content: string) =>
    checkpoints.protect(path(name), content, async () => writeFileSync(path(name), content));
  checkpoints.beginTurn({ turnId: "t1", prompt: "first \u001b[2J" });
  await checkpoints.noteUncovered("c1", "make");
  await write("a.txt", "one");
  await checkpoints.endTurn();
  checkpoints.beginTurn({ turnId: "t2", prompt: "second" });
  await write("a.txt", "two");
  await write("new.txt", "new");
  await checkpoints.endTurn();
  const outrider = (...args: string[]) => run(["checkpoints", ...args], { env: { OUTRIDER_HOME: home } });
  return { outrider, path, read: (name: string) => readFileSync(path(name), "utf8") };
}

/** Times differ from run to run. */
function timeless(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME");
}

describe("outrider checkpoints", () => {
  it("lists sessions and checkpoints, and shows one", async () => {
    const { outrider } = await session();
    const sessions = await outrider("list");
    const list = await outrider("list", "--session", "s1");
    const shown = await outrider("show", "t2", "--session", "s1");
    assert.deepEqual(
      [sessions, list, shown].map(({ code, stdout, stderr }) => [code, timeless(stdout), stderr]),
      [
        [0, "s1  TIME  2 checkpoints\n", ""],
        [
          0,
          "turn-0001  TIME  1 file, 1 shell command  first \\u001b[2J\n" + //
            "turn-0002  TIME  2 files  second\n",
          "",
        ],
        [
          0,
          [
            "turn-0002  TIME  2 files  second",
            "",
            "Files, as they were before:",
            "  a.txt: 3 bytes, mode 644",
            "  new.txt: did not exist",
            "",
            "restore turn-0002 would undo nothing:",
            "  no file would change",
            "rollback turn-0002 would undo turn-0002:",
            "  write a.txt",
            "  delete new.txt",
            "",
          ].join("\n"),
          "",
        ],
      ],
    );
  });

  it("restores, says what is not covered, and undoes the restore", async () => {
    const { outrider, read } = await session();
    const planned = await outrider("rollback", "1", "--session", "s1", "--dry-run");
    assert.deepEqual([planned.code, read("a.txt")], [0, "two"]);
    const done = await outrider("rollback", "1", "--session", "s1");
    assert.deepEqual(
      [done.code, done.stdout, read("a.txt")],
      [
        0,
        [
          "2 files restored, as rollback-0003:",
          "  write a.txt",
          "  delete new.txt",
          "  1 shell command may have changed files that are not covered",
          "To undo this: outrider checkpoints rollback rollback-0003 --session s1",
          "",
        ].join("\n"),
        "zero",
      ],
    );
    const undone = await outrider("rollback", "rollback-0003", "--session", "s1", "--json");
    assert.deepEqual(
      [undone.code, lines(undone.stdout)[0]?.["type"], read("a.txt"), read("new.txt")],
      [0, "restored", "two", "new"],
    );
  });

  it("refuses to overwrite what the user changed, unless forced", async () => {
    const { outrider, path, read } = await session();
    writeFileSync(path("a.txt"), "mine");
    const refused = await outrider("restore", "turn-0001", "--session", "s1");
    assert.deepEqual(
      [refused.code, refused.stdout, read("a.txt"), read("new.txt")],
      [
        1,
        [
          "Refused, nothing was changed:",
          "  write a.txt",
          "  delete new.txt",
          "  conflict: a.txt: it was changed since turn-0002",
          "--force overwrites what is in conflict, keeping a copy, and leaves alone what cannot be restored",
          "",
        ].join("\n"),
        "mine",
        "new",
      ],
    );
    const forced = await outrider("restore", "turn-0001", "--session", "s1", "--force");
    assert.deepEqual([forced.code, read("a.txt")], [0, "one"]);
  });

  it("drops old checkpoints", async () => {
    const { outrider } = await session();
    const kept = await outrider("gc");
    const dropped = await outrider("gc", "--keep-days", "0", "--json");
    const [result] = lines(dropped.stdout);
    assert.match(kept.stdout, /^Removed 0 checkpoints and all of 0 sessions: 0 bytes freed, \d+ kept\n$/);
    assert.deepEqual([result?.["removedCheckpoints"], result?.["removedSessions"], result?.["keptBytes"]], [2, ["s1"], 0]);
    assert.match((await outrider("list")).stdout, /^No session has checkpoints in /);
  });

  it("says that no restore was cut off", async () => {
    const { outrider } = await session();
    const { code, stdout } = await outrider("recover", "--session", "s1");
    assert.deepEqual([code, stdout], [0, "No restore was cut off\n"]);
  });

  it("tells wrong usage and unknown names from each other", async () => {
    const { outrider } = await session();
    const failures = await Promise.all([
      outrider("lst"),
      outrider("show", "--session", "s1"),
      outrider("restore", "1"),
      outrider("list", "--sesion", "s1"),
      outrider("gc", "--keep-days", "soon"),
      outrider("list", "--session", "s2"),
      outrider("show", "turn-0009", "--session", "s1"),
    ]);
    assert.deepEqual(
      failures.map(({ code, stdout, stderr }) => [code, stdout, stderr.split("\n")[0]]),
      [
        [64, "", 'outrider: checkpoints has no action "lst"; did you mean list?'],
        [64, "", "outrider: checkpoints show takes one checkpoint: outrider checkpoints list --session ID shows them"],
        [64, "", "outrider: checkpoints restore needs --session ID: outrider checkpoints list shows the sessions"],
        [64, "", "outrider: checkpoints has no flag --sesion; did you mean --session?"],
        [64, "", 'outrider: --keep-days takes a number of 0 or more, not "soon"'],
        [66, "", 'outrider: Session "s2" has no checkpoints'],
        [66, "", 'outrider: There is no checkpoint "turn-0009". There are 2, from turn-0001 to turn-0002'],
      ],
    );
  });
});
