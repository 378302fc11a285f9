import { runCases } from "./case-table.ts";
import { trustCases } from "./trust-cases.ts";

runCases("trust-config", trustCases);
