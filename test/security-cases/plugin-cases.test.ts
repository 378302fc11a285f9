import { runCases } from "./case-table.ts";
import { contextCases } from "./context-cases.ts";
import { pluginCases } from "./plugin-cases.ts";

runCases("plugins-skills", { ...pluginCases, ...contextCases });
