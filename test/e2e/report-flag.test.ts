import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { startModelServer } from "../../packages/runtime/src/testing/model-server.ts";
import { run, tempFolder } from "./command.ts";

type Reported = { models: string[]; commit?: string; outcome: { state: string; what: string }; steps: unknown[] };

/** What is in the page as data, under this id. */
function dataIn(html: string, id: string): unknown {
  const found = new RegExp(`<script type="application/json" id="${id}">(.*?)</script>`, "s").exec(html)?.[1];
  return found === undefined ? undefined : JSON.parse(found);
}

describe("--report", () => {
  const refused = { status: 400, body: { type: "error", error: { type: "invalid_request_error", message: "No credit." } } };
  const answers = { good: { text: "## Done\n\nAll of it is done." }, bad: refused };

  async function reported(answer: keyof typeof answers): Promise<{ page: string; commit: string; code: number | null }> {
    const cwd = realpathSync(tempFolder("report"));
    const git = (...words: string[]): string =>
      execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e@example.org", ...words], { cwd, encoding: "utf8" }).trim();
    git("init", "-q");
    git("commit", "-q", "--allow-empty", "-m", "first");
    const model = await startModelServer({ replies: [answers[answer]] });
    const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: model.url, OUTRIDER_HOME: join(cwd, ".home") };
    const path = join(cwd, "page.html");
    const { code } = await run(["-p", "do it", "--report", path], { cwd, env });
    await model.close();
    return { page: readFileSync(path, "utf8"), commit: git("rev-parse", "HEAD"), code };
  }

  it("writes the run as a page, with the commit it began at and the trajectory to take along", async () => {
    const { page, commit, code } = await reported("good");
    const told = dataIn(page, "run") as Reported;
    assert.deepEqual([code, told.commit, told.outcome], [0, commit, { state: "completed", what: "All of it is done." }]);
    const trajectory = dataIn(page, "trajectory") as { schema_version: string; steps: { message: string }[] };
    assert.match(trajectory.schema_version, /^ATIF-v1\./);
    assert.equal(trajectory.steps.at(-1)?.message, answers.good.text);
  });

  it("writes it also of a run that fails before any answer: why, and which model was asked", async () => {
    const { page, code } = await reported("bad");
    const { outcome, models } = dataIn(page, "run") as Reported;
    assert.deepEqual([code, outcome.state, models.length], [1, "failed", 1]);
    assert.match(outcome.what, /No credit/);
  });

  it("asks no model when the page could not be written", async () => {
    const model = await startModelServer({ replies: [] });
    const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: model.url };
    const { stderr } = await run(["-p", "do it", "--report", "/no/such/folder/page.html"], { cwd: tempFolder("report"), env });
    assert.match(stderr, /The report \/no\/such\/folder\/page\.html cannot be written/);
    assert.equal(model.requests.length, 0);
    await model.close();
  });
});
