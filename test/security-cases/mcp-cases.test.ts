import { runCases } from "./case-table.ts";
import { mcpCases } from "./mcp-cases.ts";

runCases("mcp", mcpCases);
