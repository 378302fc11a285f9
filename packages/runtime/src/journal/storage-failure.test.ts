import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RuntimeError } from "../protocol/errors.ts";
import { toStorageFailure } from "./storage-failure.ts";

const hints: [code: string, hint: RegExp][] = [
  ["ENOSPC", /^Free some space/],
  ["EDQUOT", /^Free some space/],
  ["EFBIG", /^Free some space/],
  ["EMFILE", /^Raise the limit of open files/],
  ["ENFILE", /^Raise the limit of open files/],
  ["EIO", /^The disk reports errors/],
  ["EACCES", /^Store sessions in a writable folder/],
];

describe("a failure of the storage", () => {
  for (const [code, hint] of hints) {
    it(`says what to do about ${code}`, () => {
      const cause = Object.assign(new Error(`${code}: made up`), { code });
      const failure = toStorageFailure("write", "/s1.jsonl", cause);
      assert.deepEqual(
        [failure.code, failure.message, failure.cause],
        ["storage-failed", `Cannot write /s1.jsonl: ${code}: made up`, cause],
      );
      assert.match(failure.hint ?? "", hint);
    });
  }

  it("stays what it is when it has been told already, and takes what is no error by its words", () => {
    const told = new RuntimeError("session-locked", "in use");
    assert.equal(toStorageFailure("write", "/s1.jsonl", told), told);
    assert.equal(toStorageFailure("write", "/s1.jsonl", "odd").message, "Cannot write /s1.jsonl: odd");
  });
});
