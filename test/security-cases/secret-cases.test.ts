import { runCases } from "./case-table.ts";
import { contextCases } from "./context-cases.ts";
import { injectionCases, secretCases } from "./secret-cases.ts";

runCases("secrets", secretCases);
runCases("prompt-injection", { ...injectionCases, ...contextCases });
