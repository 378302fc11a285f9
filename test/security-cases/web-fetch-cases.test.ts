import { runCases } from "./case-table.ts";
import { webFetchCases } from "./web-fetch-cases.ts";

runCases("web-fetch", webFetchCases);
