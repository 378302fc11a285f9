import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RuntimeError } from "../protocol/errors.ts";
import { parseCatalogOverride } from "./catalog-override.ts";

describe("a catalog override", () => {
  it("is read as it is written", () => {
    const file = {
      models: [
        { provider: "ollama", model: "qwen3:8b", contextWindow: 32_768, maxOutputTokens: 4096, price: { input: 0, output: 0 } },
        { provider: "x", model: "y", price: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 1.25, cacheWrite1h: 2 } },
        { provider: "x", model: "z" },
      ],
    };
    assert.deepEqual(parseCatalogOverride(file), file);
  });

  const price = { input: 1, output: 2 };
  const refused: [value: unknown, complaint: RegExp][] = [
    [[], /the file must be an object/],
    [{}, /models must be a list/],
    [{ modles: [] }, /"modles".* Did you mean models\?/],
    [{ models: [3] }, /models\[0\] must be an object/],
    [{ models: [{ provider: "x" }] }, /models\[0\]\.model must be a text/],
    [{ models: [{ provider: " ", model: "y" }] }, /models\[0\]\.provider must be a text/],
    [{ models: [{ provider: "x", model: "y", contextwindow: 1 }] }, /"contextwindow".* Did you mean contextWindow\?/],
    [{ models: [{ provider: "x", model: "y", contextWindow: 0.5 }] }, /models\[0\]\.contextWindow must be a whole number/],
    [{ models: [{ provider: "x", model: "y", maxOutputTokens: -1 }] }, /maxOutputTokens must be a whole number/],
    [{ models: [{ provider: "x", model: "y", price: { input: 1 } }] }, /models\[0\]\.price\.output must be a number/],
    [{ models: [{ provider: "x", model: "y", price: { ...price, input: "1" } }] }, /price\.input must be a number.*"1"/],
    [{ models: [{ provider: "x", model: "y", price: { ...price, input: -1 } }] }, /price\.input must be a number.*-1/],
    [{ models: [{ provider: "x", model: "y", price: { ...price, output: Number.NaN } }] }, /price\.output must be a number/],
    [{ models: [{ provider: "x", model: "y", price: { ...price, cacheRaed: 1 } }] }, /"cacheRaed".* Did you mean cacheRead\?/],
    [{ models: [{ provider: "x", model: "y", price: { ...price, cacheRead: Infinity } }] }, /price\.cacheRead must be a number/],
    [{ models: [{ provider: "x", model: "y", price: null }] }, /models\[0\]\.price must be an object/],
  ];
  for (const [value, complaint] of refused) {
    it(`is refused when it is ${JSON.stringify(value)}`, () => {
      assert.throws(
        () => parseCatalogOverride(value),
        (error) => error instanceof RuntimeError && error.code === "config" && complaint.test(error.message),
      );
    });
  }
});
