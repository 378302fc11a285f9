import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chooseModel } from "./choose-model.ts";

const session = { provider: "anthropic", id: "claude-opus-5" };
const newest: Record<string, string> = { sonnet: "claude-sonnet-5", haiku: "claude-haiku-4-5" };
const listed = { listed: ["claude-sonnet-5"], resolve: (word: string) => newest[word] };
const elsewhere = { listed: ["gpt-5", "anthropic/claude-x"], resolve: () => undefined };

describe("chooseModel", () => {
  it("is the session's unless another one is named", () => {
    assert.deepEqual(
      [undefined, "inherit", "opus"].map((wanted) => chooseModel(wanted, session, listed).model),
      ["claude-opus-5", "claude-opus-5", "claude-opus-5"],
    );
  });

  it("finds the newest of a family", () => {
    assert.deepEqual(
      [chooseModel("sonnet", session, listed).model, chooseModel("Haiku", session, listed).model],
      ["claude-sonnet-5", "claude-haiku-4-5"],
    );
  });

  it("stays with the session's where the provider has no such family, and says so", () => {
    const { model, warning } = chooseModel("haiku", { provider: "openai", id: "gpt-5" }, elsewhere);
    assert.deepEqual([model, warning], ["gpt-5", "openai has no model called haiku: the subagent asks gpt-5"]);
  });

  it("takes any other name as it stands, without the provider before it", () => {
    assert.deepEqual(
      [
        chooseModel("claude-x", session, listed).model,
        chooseModel("anthropic/claude-x", session, listed).model,
        chooseModel("anthropic/claude-x", { provider: "openrouter", id: "m" }, elsewhere).model,
      ],
      ["claude-x", "claude-x", "anthropic/claude-x"],
    );
    assert.throws(() => chooseModel("two words", session, listed), { code: "usage" });
  });
});
