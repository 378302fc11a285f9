import { existsSync } from "node:fs";
import { join } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import { createLocalBackend } from "../durable/local-backend.ts";
import { runIdOf } from "../run/task-run.ts";
import { readBatch } from "./batch-folder.ts";

/** Answers what a run asks, from any process. `name` may be left out where it asks one thing. */
export async function answerQuestion(
  path: string,
  id: string,
  { name, approved }: { name?: string | undefined; approved: boolean },
): Promise<void> {
  const { units, questions } = readBatch(path);
  const state = units.find(({ unit }) => unit.id === id);
  const asked = questions.findLast((question) => question.id === id && (name === undefined || question.name === name));
  if (!state || !asked)
    throw new RuntimeError("not-found", `${id} asks nothing`, { hint: "outrider batch status shows who does" });
  if (existsSync(join(path, "engine.json"))) {
    const { answerInEngine } = await import("../operate/batch-in-engine.ts");
    return await answerInEngine(path, runIdOf(state), { name: asked.name, approved });
  }
  const backend = createLocalBackend({ folder: join(path, "runs") });
  await backend.answer(runIdOf(state), asked.name, { approved });
  await backend.close();
}
