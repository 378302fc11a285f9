import assert from "node:assert/strict";
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import { model, projectRoot, start, tempFolder } from "./command.ts";

type Frame = Record<string, unknown>;

function write(root: string, name: string, content: string | object): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), typeof content === "string" ? content : JSON.stringify(content));
}

/** A live session with a bundle `p`. */
async function place() {
  const top = realpathSync(tempFolder("reload"));
  const [cwd, home, bundle] = [join(top, "work"), join(top, "home"), join(top, "p")];
  for (const folder of [cwd, home]) mkdirSync(folder);
  const hook = { hooks: [{ type: "command", command: "touch hooked" }] };
  write(bundle, "hooks/hooks.json", { hooks: { UserPromptSubmit: [hook] } });
  write(bundle, "commands/old.md", "FX OLD");
  const { server, env } = await model(() => ({ text: "done" }), join(home, ".outrider"));
  const flags = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--plugin-dir", bundle];
  const { child, done } = start(flags, { cwd, env: { ...env, HOME: home }, stdin: "open" });
  const frames: Frame[] = [];
  const waiting: { wanted: (frame: Frame) => boolean; found: (frame: Frame) => void }[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    const frame = JSON.parse(line) as Frame;
    frames.push(frame);
    const at = waiting.findIndex(({ wanted }) => wanted(frame));
    if (at >= 0) waiting.splice(at, 1)[0]?.found(frame);
  });
  const next = (wanted: (frame: Frame) => boolean) => new Promise<Frame>((found) => waiting.push({ wanted, found }));
  const send = (frame: object) => child.stdin.write(`${JSON.stringify(frame)}\n`);
  const say = async (text: string) => {
    const result = next(({ type }) => type === "result");
    send({ type: "user", message: { role: "user", content: text }, parent_tool_use_id: null, session_id: "" });
    return await result;
  };
  const ask = async (request: object) => {
    const answer = next(({ type }) => type === "control_response");
    send({ type: "control_request", request_id: "r", request });
    return ((await answer)["response"] as { response: Frame }).response;
  };
  const end = async () => {
    child.stdin.end();
    return await done;
  };
  const lastInit = () => frames.findLast(({ subtype }) => subtype === "init") ?? {};
  return { cwd, bundle, server, say, ask, end, lastInit };
}

describe("plugins that are loaded again", () => {
  it("count with what they are now from the next turn on, and what was said stays", async () => {
    const { cwd, bundle, server, say, end, lastInit } = await place();
    await say("the first words");
    assert.equal(existsSync(join(cwd, "hooked")), true);
    rmSync(join(cwd, "hooked"));
    rmSync(join(bundle, "hooks"), { recursive: true });
    rmSync(join(bundle, "commands"), { recursive: true });
    write(bundle, "skills/fresh/SKILL.md", "---\ndescription: A fresh one\n---\nFX FRESH $ARGUMENTS");
    write(bundle, "agents/helper.md", "---\nname: helper\ndescription: Helps out\n---\nYou help.");
    assert.match(String((await say("/reload-plugins"))["result"]), /looked for again/);
    await say("/p:fresh now");
    const body = JSON.stringify(server.requests.at(-1)?.body);
    for (const words of ["the first words", "FX FRESH now", "A fresh one", "p:helper"]) assert.ok(body.includes(words), words);
    assert.equal(existsSync(join(cwd, "hooked")), false);
    const init = lastInit();
    assert.ok(
      (init["slash_commands"] as string[]).includes("p:fresh") && !(init["slash_commands"] as string[]).includes("p:old"),
    );
    assert.ok((init["agents"] as string[]).includes("p:helper"));
    await end();
  });

  it("may be more than there were, when a host asks for it, with their servers", async () => {
    const { server, say, ask, end } = await place();
    await say("hello");
    const path = join(projectRoot, "examples/plugin");
    const answer = await ask({ subtype: "reload_plugins", add_plugins: [{ type: "local", path }] });
    assert.deepEqual(
      (answer["plugins"] as { name: string }[]).map(({ name }) => name),
      ["p", "demo"],
    );
    assert.deepEqual(answer["mcpServers"], [{ name: "plugin:demo:clock", status: "connected" }]);
    assert.equal(answer["error_count"], 0);
    await say("again");
    assert.match(JSON.stringify(server.requests.at(-1)?.body), /mcp__plugin_demo_clock__zone/);
    await end();
  });
});
