import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RuntimeError, toRuntimeError, toShownError } from "./errors.ts";

describe("an error's trace", () => {
  it("is where an internal one happened, with every cause", () => {
    const { trace = "" } = toRuntimeError(new TypeError("of no use", { cause: new Error("deep down") })).toJSON();
    assert.match(trace, /^TypeError: of no use\n {4}at [\s\S]+\nCaused by: Error: deep down\n {4}at /);
    assert.match(new RuntimeError("internal", "alone").toJSON().trace ?? "", /^RuntimeError: alone\n {4}at /);
  });

  it("is the causes of any other, in a line each, and nothing where there is none", () => {
    const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    const error = new RuntimeError("provider-unavailable", "Nobody answers", {
      cause: new Error("fetch failed", { cause: refused }),
    });
    assert.equal(error.toJSON().trace, "Error: fetch failed\nCaused by: Error: connect (ECONNREFUSED)");
    assert.equal(new RuntimeError("usage", "wrong").toJSON().trace, undefined);
    assert.equal(new RuntimeError("usage", "wrong", { cause: { an: "object" } }).toJSON().trace, "[object Object]");
  });

  it("ends, however long or circular the causes are", () => {
    const circle = new Error("round");
    circle.cause = circle;
    assert.equal(
      toRuntimeError(circle)
        .toJSON()
        .trace?.match(/Caused by/g)?.length,
      7,
    );
    assert.equal(toRuntimeError(new Error("x".repeat(20_000))).toJSON().trace?.length, 8_000);
  });

  it("is in nothing that is shown", () => {
    assert.deepEqual(toShownError(toRuntimeError(new Error("no")).toJSON()), {
      code: "internal",
      message: "no",
      retryable: false,
    });
  });
});
