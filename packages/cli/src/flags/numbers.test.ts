import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { duration, numberBetween, positiveInteger, positiveNumber } from "./numbers.ts";

const usage = { code: "usage", message: /^--flag needs / };

describe("numbers of the command line", () => {
  it("whole and above 0", () => {
    assert.deepEqual(
      ["1", "25", "999999999"].map((text) => positiveInteger("--flag", text)),
      [1, 25, 999_999_999],
    );
    for (const text of ["", " ", "0", "-1", "+1", "1.5", "1e3", "0x10", "3abc", "NaN", "Infinity", "01", "9999999999"])
      assert.throws(() => positiveInteger("--flag", text), usage, text);
  });

  it("above 0", () => {
    assert.deepEqual(
      ["1", "0.5", ".5", "1e-3", "2.50"].map((text) => positiveNumber("--flag", text)),
      [1, 0.5, 0.5, 0.001, 2.5],
    );
    for (const text of ["", " ", "0", "0.0", "-1", "NaN", "abc", "Infinity", "1e999", "0x10", "1,5", "$5", "5 USD", "1_000"])
      assert.throws(() => positiveNumber("--flag", text), usage, text);
  });

  it("between two others", () => {
    assert.deepEqual(
      ["0", "0.7", "2"].map((text) => numberBetween("--flag", text, [0, 2])),
      [0, 0.7, 2],
    );
    for (const text of ["", " ", "-0.1", "2.1", "NaN", "abc", "Infinity", "0x1"])
      assert.throws(() => numberBetween("--flag", text, [0, 2]), usage, text);
  });
});

describe("a time of the command line", () => {
  it("is seconds, or says what it is", () => {
    assert.deepEqual(
      ["90", "90s", "1.5s", "500ms", "15m", "1.5h", "576h"].map((text) => duration("--flag", text)),
      [90_000, 90_000, 1500, 500, 900_000, 5_400_000, 2_073_600_000],
    );
  });

  it("is refused when it is none, nothing, or longer than a timer runs", () => {
    for (const text of [
      "",
      " ",
      "0",
      "0s",
      "0.4ms",
      "-1s",
      "+5s",
      "NaN",
      "abc",
      "5 m",
      "5M",
      "1d",
      "1m30s",
      "s",
      "1e3",
      "600h",
      "Infinity",
    ])
      assert.throws(() => duration("--flag", text), usage, text);
  });
});
