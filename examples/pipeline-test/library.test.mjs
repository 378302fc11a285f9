import assert from "node:assert/strict";
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  createReplayProvider,
  createScriptedProvider,
  InteractiveSession,
  parseCassette,
  toCassette,
  withRecorder,
} from "@outrider/runtime";

const here = dirname(fileURLToPath(import.meta.url));
const cwd = realpathSync(join(here, "project"));
const places = { "{{cwd}}": cwd }; // what is different on each machine

async function ask(provider) {
  const session = new InteractiveSession({ cwd, provider });
  const outcome = await session.submit("What is this shop called?");
  await session.shutdown();
  return outcome;
}

test("answers from the name in package.json", async () => {
  // Here a script; for a recording of real answers any provider: createAnthropicProvider({ … }).
  const provider = createScriptedProvider([
    { calls: [{ name: "Read", input: { file_path: join(cwd, "package.json") } }] },
    { text: "It is called shoe-shop." },
  ]);

  const calls = [];
  await ask(withRecorder(provider, { places, add: async (call) => void calls.push(call) }));
  const file = JSON.stringify(toCassette(provider, calls));

  const replay = createReplayProvider(parseCassette(JSON.parse(file)), { places });
  assert.deepEqual(await ask(replay), { type: "completed", text: "It is called shoe-shop." });
  assert.equal(replay.remaining, 0);
});
