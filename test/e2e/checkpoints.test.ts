import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createCheckpoints } from "../../packages/runtime/src/checkpoints/checkpoints.ts";
import { eventually, lines, model, run, start, tempFolder } from "./command.ts";

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
      outrider("list", "--session", "s1", "--force"),
      outrider("recover", "--session", "s1", "--dry-run"),
    ]);
    assert.deepEqual(
      failures.map(({ code, stdout, stderr }) => [code, stdout, stderr.split("\n")[0]]),
      [
        [64, "", 'outrider: checkpoints has no action "lst"; did you mean list?'],
        [64, "", "outrider: checkpoints show takes one checkpoint: outrider checkpoints list --session SESSION shows them"],
        [64, "", "outrider: checkpoints restore needs --session SESSION: outrider checkpoints list shows the sessions"],
        [64, "", "outrider: checkpoints list has no flag --sesion; did you mean --session?"],
        [64, "", 'outrider: --keep-days takes a number of 0 or more, not "soon"'],
        [66, "", 'outrider: Session "s2" has no checkpoints'],
        [66, "", 'outrider: There is no checkpoint "turn-0009". There are 2, from turn-0001 to turn-0002'],
        [64, "", "outrider: checkpoints list has no flag --force"],
        [64, "", "outrider: checkpoints recover has no flag --dry-run"],
      ],
    );
  });

  it("undoes what a run did, session by name, and says of its shell command that it is not covered", async () => {
    const root = realpathSync(tempFolder("checkpoints"));
    const home = join(root, "home");
    const project = join(root, "project");
    mkdirSync(project);
    writeFileSync(join(project, "a.txt"), "mine");
    const { env } = await model(
      [
        { text: "hello" },
        { calls: [{ name: "Read", input: { file_path: "a.txt" } }] },
        { calls: [{ name: "Edit", input: { file_path: "a.txt", old_string: "mine", new_string: "changed" } }] },
        { calls: [{ name: "Bash", input: { command: "echo from the shell > b.txt" } }] },
        { text: "done" },
      ],
      home,
    );
    const options = { env, cwd: project };
    const talk = await run(["-p", "hello", "--name", "my work", "--output-format", "json"], options);
    assert.equal(talk.code, 0, talk.stderr);
    const edit = await run(["-p", "go", "--resume", "my work", "--dangerously-skip-permissions"], options);
    assert.equal(edit.code, 0, edit.stderr);
    const list = await run(["checkpoints", "list", "--session", "my work"], options);
    assert.equal(
      timeless(list.stdout),
      "turn-0001  TIME  0 files  hello\nturn-0002  TIME  1 file, 1 shell command  go\n", //
    );
    const back = await run(["checkpoints", "restore", "turn-0001", "--session", "my work"], options);
    assert.match(back.stdout, /^1 file restored, as restore-0003:\n {2}write a\.txt\n {2}1 shell command may have changed files/);
    assert.deepEqual(
      [readFileSync(join(project, "a.txt"), "utf8"), readFileSync(join(project, "b.txt"), "utf8")],
      ["mine", "from the shell\n"],
    );
  });

  it("brings back files that a patch changed, moved and deleted, and needs a rule for each", async () => {
    const root = realpathSync(tempFolder("checkpoints"));
    const project = join(root, "project");
    mkdirSync(project);
    const names = ["a.txt", "b.txt", "c.txt", "d.txt"];
    for (const name of ["a.txt", "b.txt", "c.txt"]) writeFileSync(join(project, name), `${name}\n`);
    const files = (): (string | undefined)[] =>
      names.map((name) => (existsSync(join(project, name)) ? readFileSync(join(project, name), "utf8") : undefined));
    const input = [
      ...["*** Begin Patch", "*** Update File: a.txt", "-a.txt", "+changed", "*** Delete File: b.txt"],
      ...["*** Update File: c.txt", "*** Move to: d.txt", "-c.txt", "+moved", "*** End Patch"],
    ].join("\n");
    const { env, server } = await model(
      [
        { calls: [{ name: "apply_patch", input: { input } }] },
        { text: "no" },
        { calls: [{ name: "apply_patch", input: { input } }] },
        { text: "done" },
      ],
      join(root, "home"),
    );
    const options = { env, cwd: project };
    const some = ["--allowedTools", "Edit(a.txt)", "Edit(c.txt)", "Edit(d.txt)"];
    await run(["-p", "go", "--tools", "apply_patch", ...some], options);
    assert.deepEqual(files(), ["a.txt\n", "b.txt\n", "c.txt\n", undefined]);
    assert.match(JSON.stringify(server.requests[1]?.body), /Changing .*b\.txt needs permission/);
    const all = ["-p", "go", "--name", "patched", "--tools", "apply_patch", "--permission-mode", "acceptEdits"];
    const { code, stderr } = await run(all, options);
    assert.equal(code, 0, stderr);
    assert.deepEqual(files(), ["changed\n", undefined, undefined, "moved\n"]);
    const back = await run(["checkpoints", "rollback", "turn-0001", "--session", "patched"], options);
    assert.equal(back.code, 0, back.stderr);
    assert.deepEqual(files(), ["a.txt\n", "b.txt\n", "c.txt\n", undefined]);
  });

  it("rewinds files for a host, also to a prompt that changed nothing, and has it on record", async () => {
    const root = realpathSync(tempFolder("checkpoints"));
    const home = join(root, "home");
    const project = join(root, "project");
    mkdirSync(project);
    const write = (content: string) => ({ calls: [{ name: "Write", input: { file_path: "a.txt", content } }] });
    const { env } = await model([{ text: "hello" }, write("1"), { text: "done" }], home);
    const { child, done } = start(
      ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"],
      { env, cwd: project, stdin: "open" },
    );
    let seen = "";
    child.stdout.on("data", (text: string) => {
      seen += text;
    });
    const say = (frame: object): void => void child.stdin.write(`${JSON.stringify(frame)}\n`);
    const answersOf = (type: string) =>
      lines(seen.slice(0, seen.lastIndexOf("\n") + 1)).filter((frame) => frame["type"] === type);
    const uuid = "5f0c1f8e-6a0e-4a55-9d7c-0a8f5a3f7b11";
    for (const [index, content] of ["talk", "write"].entries()) {
      say({ type: "user", message: { role: "user", content }, ...(index === 0 && { uuid }) });
      await eventually(() => answersOf("result").length === index + 1, "a result");
    }
    const rewind = async (id: string, dryRun: boolean): Promise<unknown> => {
      say({
        type: "control_request",
        request_id: id,
        request: { subtype: "rewind_files", user_message_id: uuid, dry_run: dryRun },
      });
      await eventually(() => answersOf("control_response").some((frame) => JSON.stringify(frame).includes(id)), "an answer");
      const found = answersOf("control_response").find((frame) => JSON.stringify(frame).includes(id));
      return ((found?.["response"] ?? {}) as { response?: unknown }).response;
    };
    const expected = { canRewind: true, filesChanged: [join(project, "a.txt")], insertions: 0, deletions: 1 };
    assert.deepEqual(await rewind("dry", true), expected);
    assert.equal(readFileSync(join(project, "a.txt"), "utf8"), "1");
    assert.deepEqual(await rewind("real", false), expected);
    assert.equal(existsSync(join(project, "a.txt")), false);
    child.stdin.end();
    assert.equal((await done).code, 0);
    const id = String(answersOf("result")[0]?.["session_id"]);
    assert.match(readFileSync(join(home, "sessions", `${id}.jsonl`), "utf8"), /"type":"checkpoint.restored"/);
  });
});
