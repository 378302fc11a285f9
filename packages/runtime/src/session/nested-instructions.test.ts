import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { loadInstructions } from "../context/instructions.ts";
import { createMemoryStore } from "../journal/memory-store.ts";
import { createScriptedProvider, type ScriptedReply } from "../model/scripted.ts";
import { textOf } from "../protocol/content.ts";
import { InteractiveSession } from "./interactive-session.ts";
import type { SessionOptions } from "./session-options.ts";

const cwd = realpathSync(mkdtempSync(join(tmpdir(), "outrider-nested-")));
after(() => rmSync(cwd, { recursive: true, force: true }));
const files: Record<string, string> = {
  "AGENTS.md": "TOP RULES",
  "a.txt": "a",
  "app/AGENTS.md": "APP RULES @more.md",
  "app/more.md": "MORE RULES",
  "app/CLAUDE.local.md": "LOCAL RULES",
  "app/one.txt": "one",
  "app/deep/AGENTS.md": "DEEP RULES",
  "app/deep/two.txt": "two",
  "app/node_modules/x/AGENTS.md": "FOREIGN RULES",
  "app/node_modules/x/index.txt": "x",
};
for (const [path, text] of Object.entries(files)) {
  mkdirSync(dirname(join(cwd, path)), { recursive: true });
  writeFileSync(join(cwd, path), text);
}
mkdirSync(join(cwd, ".git"));

const read = (path: string): ScriptedReply => ({ calls: [{ name: "Read", input: { file_path: path } }] });
const rules = (text: string): string[] => text.match(/(?:TOP|APP|MORE|LOCAL|DEEP|FOREIGN) RULES/g) ?? [];

type Shown = { system: string[]; results: string[][] };

/** The rules that the prompt and each result show. */
async function shown(replies: readonly ScriptedReply[], options: Partial<SessionOptions> = {}, prompts = 1): Promise<Shown> {
  const provider = createScriptedProvider([...replies]);
  const instructions = loadInstructions({ cwd, userHome: undefined, outriderHome: undefined });
  const session = new InteractiveSession({ cwd, provider, instructions, ...options });
  const results: string[][] = [];
  const reading = (async () => {
    for await (const event of session.events())
      if (event.type === "tool.ended") results.push(rules(textOf(event.result.content)));
  })();
  for (let count = 0; count < prompts; count++) await session.submit("go");
  await session.shutdown();
  await reading;
  return { system: rules(provider.requests[0]?.system ?? ""), results };
}

describe("instructions of folders below", () => {
  it("come in with the first result about a file there, each once, and leave the prompt alone", async () => {
    const app = ["APP RULES", "MORE RULES", "LOCAL RULES"];
    const calls = ["a.txt", "app/one.txt", "app/deep/two.txt", "app/one.txt"].map(read);
    assert.deepEqual(await shown([...calls, { text: "ok" }]), {
      system: ["TOP RULES"],
      results: [[], app, ["DEEP RULES"], []],
    });
    assert.deepEqual((await shown([read("app/deep/two.txt"), { text: "ok" }])).results, [[...app, "DEEP RULES"]]);
  });

  it("come with changes too, and not with calls that failed, searches and packages", async () => {
    const write = { calls: [{ name: "Write", input: { file_path: "app/deep/new.txt", content: "n" } }] };
    const search = { calls: [{ name: "Grep", input: { pattern: "one", path: "app" } }] };
    const calls = [search, read("app/nothing.txt"), read("app/node_modules/x/index.txt"), write];
    const { results } = await shown([...calls, { text: "ok" }], { permissionMode: "acceptEdits" });
    assert.deepEqual(results, [[], [], [], ["APP RULES", "MORE RULES", "LOCAL RULES", "DEEP RULES"]]);
  });

  it("are not shown again by a session that goes on, and are after the conversation was summarised", async () => {
    const sessionStore = createMemoryStore();
    const one = [read("app/one.txt"), { text: "ok" }];
    await shown(one, { sessionStore, sessionId: "s" });
    const again = await shown(one, { sessionStore, resumeSessionId: "s" });
    assert.deepEqual(again.results, [[]]);
    const compacting = { sessionStore, resumeSessionId: "s" };
    const provider = createScriptedProvider([{ text: "All was read." }, ...one]);
    const instructions = loadInstructions({ cwd, userHome: undefined, outriderHome: undefined });
    const session = new InteractiveSession({ cwd, provider, instructions, ...compacting });
    assert.ok(await session.compact());
    await session.submit("go");
    await session.shutdown();
    assert.equal(rules(JSON.stringify(provider.requests.at(-1)?.messages)).length, 3);
    assert.deepEqual((await shown(one, compacting)).results, [[]]);
  });

  it("keep to rules that forbid reading them, and are told to hooks with the reason", async () => {
    const told: Record<string, unknown>[] = [];
    const hear = async (input: object): Promise<Record<string, never>> => {
      told.push({ ...input });
      return {};
    };
    const hooks = { InstructionsLoaded: [{ hooks: [hear] }] };
    const { results } = await shown([read("app/one.txt"), { text: "ok" }], { disallowedTools: ["Read(./app/more.md)"], hooks });
    assert.deepEqual(results, [["APP RULES", "LOCAL RULES"]]);
    const nested = told.filter((input) => input["load_reason"] === "nested_traversal");
    assert.deepEqual(
      nested.map((input) => [input["file_path"], input["memory_type"]]),
      [
        [join(cwd, "app/AGENTS.md"), "Project"],
        [join(cwd, "app/CLAUDE.local.md"), "Local"],
      ],
    );
  });

  it("come to a subagent by its own steps", async () => {
    const task = { calls: [{ name: "Task", input: { description: "d", prompt: "p", subagent_type: "general-purpose" } }] };
    const { results } = await shown([read("app/one.txt"), task, read("app/one.txt"), { text: "sub" }, { text: "ok" }], {
      builtinAgents: true,
    });
    assert.deepEqual(
      results.map((found) => found.length),
      [3, 3, 0],
    );
  });

  it("do not come where those of the project do not count", async () => {
    const instructions = loadInstructions({ cwd, userHome: undefined, outriderHome: undefined, scopes: ["user"] });
    assert.deepEqual(await shown([read("app/one.txt"), { text: "ok" }], { instructions }), { system: [], results: [[]] });
  });
});
