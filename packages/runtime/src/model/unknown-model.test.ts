import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RuntimeError } from "../protocol/errors.ts";
import { hintAtModel } from "./unknown-model.ts";

const refusal = (message: string, httpStatus = 400) => new RuntimeError("provider-bad-request", message, { httpStatus });
const hintFor = async (error: RuntimeError, model: string, provider = "anthropic") =>
  (await hintAtModel(error, { provider, model })).hint;

describe("a model that the provider does not have", () => {
  it("is named with the nearest one", async () => {
    assert.match(
      (await hintFor(refusal("model: claude-sonet-4-5", 404), "claude-sonet-4-5")) ?? "",
      /^Did you mean claude-sonnet-4-5\?/,
    );
    for (const said of [
      "The model `gpt-5.55` does not exist or you do not have access to it.",
      "invalid model ID",
      "Unknown model: gpt-5.55",
    ])
      assert.match((await hintFor(refusal(said), "gpt-5.55", "openai")) ?? "", /^Did you mean gpt-5/, said);
  });

  it("is looked for elsewhere when its name is right or like no other", async () => {
    for (const model of ["claude-sonnet-4-5", "something else entirely"])
      assert.equal(
        await hintFor(refusal("not found", 404), model),
        "Check the model's name and the base URL: `outrider models anthropic` lists those that are known",
      );
  });

  it("is not what other refusals are about", async () => {
    assert.equal(await hintFor(refusal("messages.1: the model must not end with whitespace"), "claude-sonet-4-5"), undefined);
    const told = new RuntimeError("provider-bad-request", "moved", { httpStatus: 404, hint: "use that address" });
    assert.equal(await hintFor(told, "claude-sonet-4-5"), "use that address");
  });
});
