import { runCases } from "./case-table.ts";
import { permissionCases } from "./permission-cases.ts";

runCases("shell-permission", permissionCases);
runCases("path", permissionCases);
