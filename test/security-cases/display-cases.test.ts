import { runCases } from "./case-table.ts";
import { displayCases } from "./display-cases.ts";

runCases("display", displayCases);
