// What becomes of calls as real models send them (test/support/replayed-calls.ts): how many are taken, how many run unasked in each mode, which
// failed edits are mended. node bench/replay-calls.mjs [--json] [--near-misses N] [--seed N]; exit code 1 when an edit was mended wrongly.
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { importSources } from "./library.mjs";

const { values: flags } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    "near-misses": { type: "string", default: "20000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const source = "../../../test/support/replayed-calls.ts";
const { acceptInputs, healNearMisses, healRecorded, runRecordedLooks, runUnasked } = await importSources({
  "acceptInputs, healNearMisses, healRecorded, runRecordedLooks, runUnasked": source,
});
const seed = Number(flags.seed);
const report = {
  inputs: await acceptInputs(),
  commands: await runUnasked(dirname(import.meta.dirname)),
  looks: await runRecordedLooks(),
  edits: healRecorded(),
  nearMisses: { seed, ...healNearMisses(Number(flags["near-misses"]), seed) },
};
if (flags.json) console.log(JSON.stringify(report, null, 2));
else print(report);
const wrong = [...Object.values(report.edits), report.nearMisses].reduce((sum, heals) => sum + heals.wrong, 0);
if (wrong > 0) process.exitCode = 1;

function print({ inputs, commands, looks, edits, nearMisses }) {
  const percent = (share) => `${(share * 100).toFixed(2)} %`;
  console.log(`inputs taken or understood: ${inputs.accepted} of ${inputs.calls} (${percent(inputs.accepted / inputs.calls)})`);
  for (const line of inputs.refused) console.log(`  refused: ${line}`);
  console.log(`\ncommands that run unasked, of ${commands.commands}      only look   do more`);
  for (const mode of Object.keys(commands.looking))
    console.log(
      `  ${mode.padEnd(38)}${percent(commands.looking[mode]).padStart(9)}${percent(commands.doing[mode]).padStart(10)}`,
    );
  const share = percent(looks.unasked / looks.calls);
  console.log(`\nlooks as often as recorded, that run unasked in mode default: ${looks.unasked} of ${looks.calls} (${share})`);
  for (const line of looks.asked) console.log(`  asked: ${line}`);
  console.log("\nedits whose text was not found          tried   mended  wrongly");
  const rows = [...Object.entries(edits), [`near misses, seed ${nearMisses.seed}`, nearMisses]];
  for (const [name, { tried, healed, wrong: bad }] of rows)
    console.log(`  ${name.padEnd(34)}${[tried, healed, bad].map((count) => String(count).padStart(9)).join("")}`);
}
