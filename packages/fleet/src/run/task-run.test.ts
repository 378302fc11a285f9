import assert from "node:assert/strict";
import { it } from "node:test";
import type { BatchUnit } from "../tasks/task.ts";
import { runIdOf } from "./task-run.ts";

it("gives every attempt of every unit a name of its own, whatever units are called", () => {
  const unit = (id: string): BatchUnit => ({ id, taskId: id, repetition: 1, model: undefined, task: { id, prompt: "p" } });
  const names = ["a", "a~2", "a~2~1", "a~1"].flatMap((id) => [1, 2, 3].map((attempt) => runIdOf({ unit: unit(id), attempt })));
  assert.equal(new Set(names).size, names.length, names.join(" "));
  assert.equal(runIdOf({ unit: unit("a"), attempt: 1 }), "a");
});
