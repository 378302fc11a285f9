import { runCases } from "./case-table.ts";
import { checkpointCases } from "./checkpoint-cases.ts";

runCases("checkpoint", checkpointCases);
