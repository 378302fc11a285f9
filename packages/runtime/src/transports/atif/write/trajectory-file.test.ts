import assert from "node:assert/strict";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { after, describe, it } from "node:test";
import { createMemoryStore } from "../../../journal/memory-store.ts";
import { createScriptedProvider, type ScriptStep } from "../../../model/scripted.ts";
import type { Outcome } from "../../../protocol/outcome.ts";
import type { SessionOptions } from "../../../session/session-options.ts";
import { InteractiveSession } from "../../../session/interactive-session.ts";
import { LineOutput } from "../../headless/line-output.ts";
import { runPrompt } from "../../headless/run-prompt.ts";
import { type TrajectoryFileOptions, watchTrajectory } from "./trajectory-file.ts";
import { validateTrajectory } from "../check/validate.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-trajectory-"));
writeFileSync(join(folder, "a.txt"), "hi\n");
after(() => rmSync(folder, { recursive: true, force: true }));

const read = { name: "Read", input: { file_path: "a.txt" } };

/** One prompt with a trajectory file; `onEvent` looks at the file while the run goes on. */
async function run(
  replies: readonly ScriptStep[],
  file: TrajectoryFileOptions,
  {
    options = {},
    onEvent = () => {},
  }: { options?: Partial<SessionOptions>; onEvent?: (type: string, session: InteractiveSession) => void } = {},
) {
  const session = new InteractiveSession({ cwd: folder, provider: createScriptedProvider(replies), ...options });
  const stream = new PassThrough().resume();
  const plain = {
    event: (event: { type: string }) => {
      onEvent(event.type, session);
      return "";
    },
    end: async () => "",
  };
  const format = await watchTrajectory(plain, file);
  const outcome = await runPrompt(session, "Go", { format, output: new LineOutput(stream), judge: format.judge });
  await session.shutdown();
  return { outcome, session };
}

const load = (path: string) => JSON.parse(readFileSync(path, "utf8"));

describe("a trajectory file", () => {
  it("is whole and valid at every moment, and each step is in it before anything else happens", async () => {
    const path = join(folder, "deep/er/trajectory.json");
    const seen: string[] = [];
    await run(
      [{ text: "One.", calls: [read] }, { text: "Two.", calls: [read, read] }, { text: "Done." }],
      { path },
      {
        onEvent: (type) => {
          if (!existsSync(path)) return;
          const { problems } = validateTrajectory(load(path));
          assert.deepEqual(problems, []);
          seen.push(`${type} ${load(path).steps.length}`);
        },
      },
    );
    assert.deepEqual(
      seen.filter((line) => /^(turn\.started|message\.ended|turn\.ended)/.test(line)),
      ["turn.started 2", "message.ended 3", "message.ended 4", "message.ended 5", "turn.ended 5"],
    );
    assert.deepEqual(readdirSync(join(folder, "deep/er")), ["trajectory.json"]);
    assert.equal(load(path).extra.outcome.status, "completed");
  });

  it("holds all steps of a run that failed or was stopped by a signal", async () => {
    const failed = join(folder, "failed.json");
    await run([{ calls: [read] }, { fail: { code: "provider-auth", message: "The key is wrong" } }], { path: failed });
    assert.deepEqual([load(failed).steps.length, load(failed).extra.outcome.stop_reason], [3, "provider-auth"]);
    const stopped = join(folder, "stopped.json");
    await run(
      [{ text: "Once upon", hang: true }],
      { path: stopped },
      { onEvent: (type, session) => type === "text.delta" && session.abort("signal") },
    );
    assert.deepEqual(
      [load(stopped).steps.at(-1).message, load(stopped).extra.outcome],
      ["Once ", { status: "cancelled", stop_reason: "signal" }],
    );
  });

  it("tells what a resumed session held before as copied context", async () => {
    const store = createMemoryStore();
    const path = join(folder, "resumed.json");
    const { session } = await run([{ text: "One." }], { path }, { options: { sessionStore: store } });
    const history = await store.read(session.id);
    await run([{ text: "Two." }], { path, history }, { options: { sessionStore: store, resumeSessionId: session.id } });
    assert.deepEqual(
      load(path)
        .steps.map((step: { message: string; is_copied_context?: boolean }) => [
          step.message.slice(0, 4),
          step.is_copied_context ?? false,
        ])
        .slice(1),
      [
        ["Go", true],
        ["One.", true],
        ["Go", false],
        ["Two.", false],
      ],
    );
    assert.deepEqual(validateTrajectory(load(path)), { ok: true, version: "1.7", problems: [], warnings: [] });
  });

  it("is refused where it cannot be written, before a model is asked", async () => {
    mkdirSync(join(folder, "taken.json"));
    const format = { event: () => "", end: async () => "" };
    await assert.rejects(watchTrajectory(format, { path: join(folder, "taken.json") }), { code: "storage-failed" });
    await assert.rejects(watchTrajectory(format, { path: join(folder, "a.txt", "x.json") }), { code: "storage-failed" });
  });

  it("is refused where there is no ordinary file, and no folder can be made", async () => {
    const format = { event: () => "", end: async () => "" };
    const places = ["-", "/dev/null", "/dev/stdout", ...(existsSync("/proc/self") ? ["/proc/no-such-folder/t.json"] : [])];
    for (const path of places) await assert.rejects(watchTrajectory(format, { path }), { code: "storage-failed" }, path);
    assert.equal(statSync("/dev/null").isCharacterDevice(), true);
  });

  it("goes to the file that a link names", async () => {
    const [link, file] = [join(folder, "link.json"), join(folder, "linked.json")];
    writeFileSync(file, "old");
    symlinkSync(file, link);
    await run([{ text: "Done." }], { path: link });
    assert.deepEqual([lstatSync(link).isSymbolicLink(), load(file).steps.at(-1).message], [true, "Done."]);
  });

  it("leaves an output its last words, and judges them", async () => {
    const said: string[] = [];
    const format = {
      event: () => "",
      end: async () => "",
      async close(outcome: Outcome) {
        said.push(outcome.type);
        return "last";
      },
    };
    const place = join(folder, "closing");
    mkdirSync(place);
    const watched = await watchTrajectory(format, { path: join(place, "t.json") });
    const session = new InteractiveSession({ cwd: folder, provider: createScriptedProvider([{ text: "Done." }]) });
    const outcome = await runPrompt(session, "Go", { format: watched, output: new LineOutput(new PassThrough().resume()) });
    assert.deepEqual([await watched.close?.(outcome), said], ["last", ["completed"]]);
    rmSync(place, { recursive: true });
    writeFileSync(place, "a file now");
    await watched.end(outcome);
    await watched.close?.(outcome);
    await session.shutdown();
    assert.deepEqual(said, ["completed", "failed"]);
  });

  it("makes a run fail that could not be written down", async () => {
    const place = join(folder, "vanishing");
    mkdirSync(place);
    const { outcome } = await run(
      [{ text: "Done." }],
      { path: join(place, "t.json") },
      {
        onEvent: (type) => {
          if (type !== "session.started") return;
          rmSync(place, { recursive: true });
          writeFileSync(place, "a file now");
        },
      },
    );
    assert.equal(outcome.type === "failed" && outcome.error.code, "storage-failed");
  });

  it("writes version 1.4 when asked to", async () => {
    const path = join(folder, "old.json");
    await run([{ calls: [read] }, { text: "Done." }], { path, version: "1.4" });
    assert.deepEqual([load(path).schema_version, validateTrajectory(load(path)).problems], ["ATIF-v1.4", []]);
  });
});
