import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lines, model, start, tempFolder } from "./command.ts";

const frames = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"];
const live = [...frames, "--allowedTools", "Bash"];

/** A conversation that is typed line by line: each answer is there before the next line is said. */
async function conversation(replies: Parameters<typeof model>[0], flags: readonly string[] = live) {
  const { env } = await model(replies, tempFolder("agents-by-command-home"));
  const { child, done } = start([...flags], { cwd: tempFolder("agents-by-command"), env, stdin: "open" });
  let output = "";
  let heard = (): void => {};
  child.stdout.on("data", (text) => {
    output += String(text);
    heard();
  });
  const results = (): Record<string, unknown>[] =>
    lines(output.slice(0, output.lastIndexOf("\n") + 1)).filter(({ type, origin }) => type === "result" && origin === undefined);
  const type = async (text: string): Promise<{ readonly text: string; readonly isError: boolean }> => {
    const before = results().length;
    child.stdin.write(`${JSON.stringify({ type: "user", message: { role: "user", content: text } })}\n`);
    while (results().length === before) await new Promise<void>((resolve) => (heard = resolve));
    const { result, errors, is_error: isError } = results()[before] ?? {};
    return { text: String(result ?? (errors as string[] | undefined)?.join("\n")), isError: isError === true };
  };
  const end = async () => {
    child.stdin.end();
    return await done;
  };
  return { type, end };
}

describe("agents that commands start, ask and end", { timeout: 60_000 }, () => {
  it("work as a group in the background, whose answers are waited for and read", async () => {
    const { type, end } = await conversation(({ body }) => ({
      text: JSON.stringify(body).includes("look here") ? "FX here" : "FX there",
    }));
    const begun = await type("/agent parallel --detach general-purpose look here ;; Explore look there");
    const [, group = ""] = /\/agent wait (\S+?)\)/.exec(begun.text) ?? [];
    const ids = [...begun.text.matchAll(/^(\S+) (?:general-purpose|Explore)$/gm)].map(([, id = ""]) => id);
    assert.equal(ids.length, 2, begun.text);
    const waited = await type(`/agent wait ${group}`);
    assert.equal(waited.isError, false, waited.text);
    for (const id of ids) assert.match(waited.text, new RegExp(id));
    assert.match((await type(`/agent read ${ids[0]}`)).text, /FX here/);
    assert.match((await type(`/agent read ${ids[1]}`)).text, /FX there/);
    assert.match((await type("/agent list")).text, new RegExp(`^${ids[0]} completed`, "m"));
    assert.match((await type(`/agent close ${ids[0]}`)).text, /is forgotten/);
    assert.doesNotMatch((await type("/agent list")).text, new RegExp(ids[0] ?? ""));
    assert.equal((await end()).code, 0);
  });

  it("hear what is sent to them while they work, and stop when they are told to", async () => {
    const slow = { calls: [{ name: "Bash", input: { command: "sleep 600" } }] };
    const { type, end } = await conversation(({ body }) => {
      const isAgent = /look (?:t?)here/.test(JSON.stringify((body as { messages: object[] }).messages[0]));
      return isAgent ? slow : { text: "ok" };
    });
    const begun = await type("/agent parallel --detach general-purpose look here ;; general-purpose look there");
    const ids = [...begun.text.matchAll(/^(\S+) general-purpose$/gm)].map(([, id = ""]) => id);
    assert.equal((await type(`/agent send ${ids[0]} FXSENT words`)).text, `${ids[0]} was told`);
    assert.match((await type("/agent send nobody words")).text, /nobody/);
    for (const id of ids) assert.equal((await type(`/agent stop ${id}`)).text, `${id} is stopped`);
    const [, group = ""] = /\/agent wait (\S+?)\)/.exec(begun.text) ?? [];
    assert.equal((await type(`/agent wait ${group}`)).isError, false);
    assert.match((await type("/agent wait nobody")).text, /nobody/);
    assert.equal((await type("/agent close")).isError, true);
    assert.match((await type("/agent")).text, new RegExp(`^${ids[0]} cancelled`, "m"));
    assert.equal((await end()).code, 0);
  });

  it("write to a command only what rules let the model write to it", async () => {
    let asked = 0;
    const bash = { calls: [{ name: "Bash", input: { command: "bash", run_in_background: true } }] };
    const flags = [...frames, "--allowedTools", "Bash(bash)", "--disallowedTools", "Read(.env)"];
    const { type, end } = await conversation(() => (asked++ === 0 ? bash : { text: "ok" }), flags);
    await type("begin");
    assert.equal((await type("/agent send process_1 echo a; cat .e")).text, "process_1 was told");
    const refused = await type("/agent send process_1 nv");
    assert.equal(refused.isError, true);
    assert.match(refused.text, /Nothing was written to process_1: The rule Read\(\.env\) forbids it/);
    await end();
  });
});
