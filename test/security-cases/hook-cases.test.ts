import { runCases } from "./case-table.ts";
import { hookCases } from "./hook-cases.ts";

runCases("hooks", hookCases);
