import { runCases } from "./case-table.ts";
import { playVictim, sandboxCases } from "./sandbox-cases.ts";

const victim = process.env["OUTRIDER_CASE_VICTIM"];
if (victim) {
  await playVictim(victim);
  process.exit(0);
}
runCases("sandbox", sandboxCases);
