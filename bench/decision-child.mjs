// How long a decision about a command takes: node decision-child.mjs ROUNDS. Prints JSON, in milliseconds: the first one, which loads the
// parser of bash, and of each command the middle one of its rounds, so that what else the machine does is not counted.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { importSources } from "./library.mjs";
import { median } from "./statistics.mjs";

const rounds = Number(process.argv[2]);
const { decide } = await importSources({ decide: "permissions/decide.ts" });
const { lookers } = JSON.parse(readFileSync(join(dirname(import.meta.dirname), "test/fixtures/commands.json"), "utf8"));
const base = { root: "/repo/proj", home: "/home/me" };
const policy = { mode: "default", allow: [], ask: [], deny: [], base, readable: [], trusted: async () => true };

const first = await time("ls");
const times = new Map(lookers.map((command) => [command, []]));
for (let round = 0; round < rounds; round++) for (const command of lookers) times.get(command).push(await time(command));
console.log(JSON.stringify({ first, others: [...times.values()].map(median) }));

async function time(resource) {
  const startedAt = performance.now();
  const { effect } = await decide(policy, [{ tool: "Bash", kind: "run", resource }]);
  const ms = performance.now() - startedAt;
  if (effect !== "allow") throw new Error(`${resource}: ${effect}, although it only looks`);
  return ms;
}
