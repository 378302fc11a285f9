import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { saveListedModels } from "./listed-models.ts";
import { loadListedModels } from "./user-settings.ts";

const top = mkdtempSync(join(tmpdir(), "outrider-listed-"));
after(() => rmSync(top, { recursive: true, force: true }));

describe("what a provider says about its models", () => {
  it("is kept in a folder that may not be there yet, and takes the place of what it said before", async () => {
    const home = join(top, "new/home");
    const saved = async (): Promise<string[]> =>
      ((await loadListedModels(home))?.models ?? []).map(({ provider, model }) => `${provider}/${model}`);
    assert.deepEqual(await saved(), []);
    await saveListedModels(home, "anthropic", [{ provider: "anthropic", model: "a", contextWindow: 1000 }]);
    await saveListedModels(home, "openai", [{ provider: "openai", model: "o", contextWindow: 1000 }]);
    assert.deepEqual(await saved(), ["anthropic/a", "openai/o"]);
    await saveListedModels(home, "anthropic", [{ provider: "anthropic", model: "b", contextWindow: 1000 }]);
    assert.deepEqual(await saved(), ["openai/o", "anthropic/b"]);
  });
});
