import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { AgentEvent } from "../../packages/runtime/src/protocol/events.ts";
import { createBasicFormat } from "../../packages/runtime/src/transports/headless/basic-format.ts";
import { createCalibanFormat } from "../../packages/runtime/src/transports/headless/caliban-format.ts";
import { createClaudeFormat } from "../../packages/runtime/src/transports/headless/claude-format.ts";
import { listCommands } from "../../packages/runtime/src/session/prompts/session-commands.ts";
import { lines, projectRoot } from "../e2e/command.ts";
import { refute, type Requirement } from "./requirement.ts";
import { type Played, play, type Scenario } from "./scenario.ts";
import type { JsonRecord } from "./structure.ts";
import { createRedactor } from "../../packages/runtime/src/util/redact.ts";

const commandNames = listCommands({}).map(({ name }) => name);
const read = (name: string): unknown => JSON.parse(readFileSync(join(projectRoot, "test/contract", name), "utf8"));
const scenarios = read("scenarios.json") as Readonly<Record<string, Scenario>>;
const lists = ["claude", "caliban", "robota"].map((flavor) => ({
  flavor,
  requirements: read(`${flavor}-requirements.json`) as Requirement[],
}));

for (const { flavor, requirements } of lists) {
  describe(`the conformance list of the flavour ${flavor}`, () => {
    const played = new Map<string, Promise<Played>>();
    const transcriptOf = (name: string): Promise<Played> => {
      const scenario = scenarios[name];
      if (!scenario) throw new Error(`There is no scenario ${name}`);
      const run = played.get(name) ?? play(scenario, ["--flavor", flavor]);
      played.set(name, run);
      return run;
    };
    for (const { id, text, proofs } of requirements) {
      it(`${id}: ${text}`, async () => {
        const refuted: string[] = [];
        for (const proof of proofs) {
          const found = refute(proof, await transcriptOf(proof.scenario));
          refuted.push(...found.map((what) => `${proof.scenario}: ${what}`));
        }
        assert.deepEqual(refuted, []);
      });
    }

    it("is kept by the encoder alone: the stored events of a run give the frames that were written", async () => {
      let compared = 0;
      for (const [name, run] of played) {
        const { frames, events } = await run;
        if (!isStream(scenarios[name]) || events.length === 0) continue;
        assert.deepEqual(
          (await encodeAgain(flavor, events, scenarios[name])).map(withoutNames),
          frames.filter(isStored).map(withoutNames),
          name,
        );
        compared++;
      }
      assert.ok(compared >= 2, `${compared} compared`);
    });

    it("has a proof for every line, and says in it what must hold", () => {
      for (const { id, proofs } of requirements) {
        assert.ok(proofs.length > 0, `${id} is proved by nothing`);
        for (const { scenario, ...claims } of proofs)
          assert.ok(Object.keys(claims).length > 0, `${id}: ${scenario} claims nothing`);
      }
      assert.equal(new Set(requirements.map(({ id }) => id)).size, requirements.length);
    });
  });
}

/** Deltas are not stored, and several prompts have several ends. */
function isStream(scenario: Scenario | undefined): boolean {
  const args = scenario?.args ?? [];
  return args.includes("stream-json") && !args.includes("--include-partial-messages") && !args.includes("--input-format");
}

async function encodeAgain(flavor: string, events: readonly AgentEvent[], scenario: Scenario | undefined): Promise<JsonRecord[]> {
  let count = 0;
  const options = {
    sessionId: events[0]?.sessionId ?? "",
    newId: () => String(count++),
    includeHookEvents: scenario?.args.includes("--include-hook-events") ?? false,
    forwardSubagentText: scenario?.args.includes("--forward-subagent-text") ?? false,
    mcpServers: () => [],
    commands: () => commandNames,
    keySource: "ANTHROPIC_API_KEY",
  };
  const format =
    flavor === "claude"
      ? createClaudeFormat("stream-json", options)
      : flavor === "caliban"
        ? createCalibanFormat("stream-json", options)
        : createBasicFormat("stream-json", options);
  let text = "";
  for (const event of events) {
    text += format.event(event);
    if (event.type === "turn.ended") text += await format.end(createRedactor().value(event.outcome));
  }
  return lines(text) as JsonRecord[]; // every line is an object, or parsing has failed
}

/** Deltas, and what follows from them, are for watching only. */
function isStored({ type, subtype }: JsonRecord): boolean {
  return type !== "stream_event" && subtype !== "thinking_tokens";
}

/** Frames of assistants have names that follow from what they are of; all others are made up. */
function withoutNames(frame: JsonRecord): JsonRecord {
  const { uuid, ...rest } = frame;
  return frame["type"] === "assistant" && !frame["is_api_error_message"] && uuid !== undefined ? frame : rest;
}

describe("the black-box behaviours 1 to 40", () => {
  const notes = read("vectors.json") as Readonly<Record<string, { file: string; test: string } | { reason: string }>>;
  const proved = new Set(lists.flatMap(({ requirements }) => requirements.flatMap(({ vectors = [] }) => vectors)));

  it("are each proved by a line of the lists, or by a test that is named, or have a reason", () => {
    for (let vector = 1; vector <= 40; vector++) {
      const note = notes[vector];
      assert.notEqual(proved.has(vector), note !== undefined, `${vector} must be in a list or in vectors.json, and not in both`);
      if (!note) continue;
      if ("reason" in note) assert.ok(note.reason.length > 20, String(vector));
      else
        assert.ok(
          readFileSync(join(projectRoot, note.file), "utf8").includes(JSON.stringify(note.test)),
          `${vector}: ${note.test}`,
        );
    }
  });
});

describe("the scenarios", () => {
  it("are all used", () => {
    const used = new Set(
      lists.flatMap(({ requirements }) => requirements.flatMap(({ proofs }) => proofs.map(({ scenario }) => scenario))),
    );
    assert.deepEqual(
      Object.keys(scenarios).filter((name) => !used.has(name)),
      [],
    );
  });
});
