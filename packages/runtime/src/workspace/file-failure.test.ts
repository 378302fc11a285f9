import assert from "node:assert/strict";
import { it } from "node:test";
import { RuntimeError } from "../protocol/errors.ts";
import { fileFailure } from "./file-failure.ts";

it("a failure of the system is told in words about the file, one of ours as it is", () => {
  const told = (code: string, message = "the system's own words"): unknown[] => {
    const failure = fileFailure("/a", { verb: "read", error: Object.assign(new Error(message), { code }) });
    return [failure.code, failure.message];
  };
  assert.deepEqual(
    [told("ENOENT"), told("ENOSPC"), told("ELOOP"), told("EODD")],
    [
      ["not-found", "/a does not exist."],
      ["usage", "/a could not be read: the disk is full."],
      ["usage", "/a could not be read: its symbolic links lead in a circle."],
      ["usage", "/a could not be read: the system's own words."],
    ],
  );
  const ours = new RuntimeError("busy", "somebody else has it");
  assert.equal(fileFailure("/a", { verb: "read", error: ours }), ours);
});
