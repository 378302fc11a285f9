import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { lines, model, run, tempFolder } from "./command.ts";

const userLine = (text: string) =>
  `${JSON.stringify({ type: "user", message: { role: "user", content: [{ type: "text", text }] } })}\n`;

async function place(replies = [{ text: "1" }, { text: "2" }]) {
  const top = tempFolder("typed");
  const cwd = join(top, "project");
  mkdirSync(cwd);
  const { server, env } = await model(replies, join(top, "home/.outrider"));
  const outrider = (args: readonly string[], stdin?: string) =>
    run(args, { cwd, env: { ...env, HOME: join(top, "home") }, ...(stdin !== undefined && { stdin }) });
  return { cwd, outrider, models: () => server.requests.map(({ body }) => (body as { model: string }).model) };
}

describe("what is typed in a session", () => {
  it("/model knows the words that --model knows", async () => {
    const { outrider, models } = await place();
    const typed = ["/model haiku", "one", "/model claude-opus-5-5", "two"].map(userLine).join("");
    const ended = await outrider(["-p", "--input-format", "stream-json", "--output-format", "stream-json"], typed);
    const said = lines(ended.stdout).flatMap(({ type, result }) => (type === "result" ? [String(result)] : []));
    assert.match(said[0] ?? "", /^The model is claude-haiku-\S+ now$/);
    assert.match(models()[0] ?? "", /^claude-haiku-/);
    assert.equal(models()[1], "claude-opus-5-5");
  });

  it("/user-local and outrider user-local are the same, and leave the project alone", async () => {
    const { outrider, cwd } = await place();
    const words = ["memory", "set", "view-preference", "theme", "dark"];
    const set = await outrider(["user-local", ...words]);
    assert.equal(set.stdout, 'view-preference theme = "dark"\n', set.stderr);
    assert.equal((await outrider(["-p", "/user-local memory list"])).stdout, set.stdout);
    const storage = JSON.parse((await outrider(["user-local", "storage", "list", "--format", "json"])).stdout) as {
      categories: unknown[];
    };
    assert.equal(storage.categories.length, 6);
    assert.match((await outrider(["user-local", "bogus"])).stderr, /user-local takes storage list; memory list/);
    assert.deepEqual(readdirSync(cwd), []);
  });

  it("/agent run is a turn with the answer of the agent", async () => {
    const { outrider } = await place([{ text: "from the agent" }]);
    const ended = await outrider(["-p", "/agent run Explore look"]);
    assert.deepEqual([ended.code, ended.stdout], [0, "from the agent\n"]);
    const unknown = await outrider(["-p", "/agent run Explor look"]);
    assert.match(unknown.stderr, /There is no agent Explor; did you mean Explore\?/);
  });
});
