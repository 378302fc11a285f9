import assert from "node:assert/strict";
import { it } from "node:test";
import type { Provider } from "../model/model.ts";
import { requireProvider } from "../model/providers/definitions.ts";
import { createScriptedProvider } from "../model/scripted.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { withKeyHint } from "./profile-key.ts";

it("a failure that is not about the key comes as it was thrown, with the place where that was", async () => {
  const failure = new RuntimeError("internal", "a mistake of ours");
  const broken: Provider = {
    ...createScriptedProvider([]),
    // biome-ignore lint/correctness/useYield: it fails before it says anything
    async *stream(): AsyncGenerator<never> {
      throw failure;
    },
  };
  const owner = { definition: requireProvider("openai"), profile: { type: "openai", apiKey: "$ENV:WORK_KEY" }, key: "work" };
  const asked = withKeyHint(broken, owner).stream(
    { model: "m", system: "", messages: [], tools: [] },
    { signal: new AbortController().signal },
  );
  await assert.rejects(
    async () => {
      for await (const _ of asked);
    },
    (thrown) => thrown === failure,
  );
});
