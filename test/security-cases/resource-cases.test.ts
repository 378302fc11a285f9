import { runCases } from "./case-table.ts";
import { resourceCases } from "./resource-cases.ts";

runCases("resources", resourceCases);
