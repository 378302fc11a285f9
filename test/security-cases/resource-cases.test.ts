import { absentCases } from "./absent-cases.ts";
import { runCases } from "./case-table.ts";
import { resourceCases } from "./resource-cases.ts";

runCases("resources", { ...absentCases, ...resourceCases });
