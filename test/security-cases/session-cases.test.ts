import { runCases } from "./case-table.ts";
import { sessionCases } from "./session-cases.ts";

runCases("session-store", sessionCases);
