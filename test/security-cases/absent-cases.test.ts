import { absentCases } from "./absent-cases.ts";
import { runCases } from "./case-table.ts";
import { contextCases } from "./context-cases.ts";

runCases("plugins-skills", { ...absentCases, ...contextCases });
