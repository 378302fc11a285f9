import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { type AssistantMessage, type Message, noUsage } from "../../packages/runtime/src/protocol/content.ts";
import { loadCallPrice } from "../../packages/runtime/src/transports/atif/write/call-price.ts";
import { loadTrajectory } from "../../packages/runtime/src/transports/atif/read/load-trajectory.ts";
import { toTrajectoryDocument } from "../../packages/runtime/src/transports/atif/write/trajectory.ts";
import { watchTrajectory, writeDocument } from "../../packages/runtime/src/transports/atif/write/trajectory-file.ts";
import { validateTrajectory } from "../../packages/runtime/src/transports/atif/check/validate.ts";
import { loadReference, schemaErrors } from "./reference.ts";
import { runScenario, scenarios } from "./scenarios.ts";
import { createRedactor } from "../../packages/runtime/src/util/redact.ts";
import type { Outcome } from "../../packages/runtime/src/protocol/outcome.ts";

const temp = mkdtempSync(join(tmpdir(), "outrider-atif-"));
after(() => rmSync(temp, { recursive: true, force: true }));
const reference = await loadReference();

describe("a trajectory of every scenario", () => {
  for (const scenario of scenarios) {
    it(`is valid: ${scenario.name}`, async () => {
      const folder = join(temp, scenario.name.replaceAll(" ", "-"));
      const { events, messages, sessionId } = await runScenario(scenario, folder);
      const priceOf = await loadCallPrice();
      for (const version of ["1.7", "1.4"] as const) {
        const document = toTrajectoryDocument(events, { version, priceOf });
        assert.ok(document);
        const path = join(folder, version, "trajectory.json");
        writeDocument(path, document);
        const written: unknown = JSON.parse(readFileSync(path, "utf8"));
        for (const mode of ["strict", "harbor"] as const) {
          const judged = reference(written, { mode, dir: dirname(path) });
          assert.deepEqual(
            { version, mode, errors: judged.errors, warnings: judged.warnings },
            { version, mode, errors: [], warnings: [] },
          );
          assert.equal(validateTrajectory(written, { mode }).ok, true);
        }
        assert.deepEqual(schemaErrors(written, version), []);
        if (version === "1.7") {
          const imported = loadTrajectory(path, { sessionId });
          assert.deepEqual(imported.messages.map(comparable), messages.map(comparable));
          const leftOut = document.subagents.size > 0 ? 1 : 0;
          assert.equal(imported.warnings.length, leftOut);
        }
      }
    });
  }
});

describe("a trajectory file that grows with its run", () => {
  for (const scenario of scenarios) {
    it(`ends as the whole journal tells it: ${scenario.name}`, async () => {
      const folder = join(temp, `growing-${scenario.name.replaceAll(" ", "-")}`);
      const { events } = await runScenario(scenario, folder);
      const path = join(folder, "out", "trajectory.json");
      const format = await watchTrajectory({ event: () => "", end: async () => "" }, { path });
      for (const event of events) format.event(event);
      await format.end(createRedactor().value<Outcome>({ type: "completed", text: "" }));
      const whole = toTrajectoryDocument(events, { priceOf: await loadCallPrice() });
      assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), JSON.parse(JSON.stringify(whole?.trajectory)));
      for (const [name, child] of whole?.subagents ?? [])
        assert.deepEqual(JSON.parse(readFileSync(join(folder, "out", name), "utf8")), JSON.parse(JSON.stringify(child)));
    });
  }
});

/** What a trajectory keeps of a message: tokens and a provider's own words about its answer stay with the session that paid for it. */
function comparable(message: Message): Message {
  if (message.role !== "assistant") return message;
  const content = message.content.map((part): AssistantMessage["content"][number] => {
    if (part.type === "opaque") return part;
    const { providerMetadata: _, ...rest } = part;
    const { malformedInput: __, ...plain } = rest as typeof rest & { malformedInput?: string };
    return plain;
  });
  return { role: "assistant", content, model: message.model, finish: message.finish, usage: noUsage };
}
