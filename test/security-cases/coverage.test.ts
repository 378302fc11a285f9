import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { allCases } from "./case-table.ts";
import { checkpointCases } from "./checkpoint-cases.ts";
import { contextCases } from "./context-cases.ts";
import { displayCases } from "./display-cases.ts";
import { hookCases } from "./hook-cases.ts";
import { mcpCases } from "./mcp-cases.ts";
import { permissionCases } from "./permission-cases.ts";
import { pluginCases } from "./plugin-cases.ts";
import { resourceCases } from "./resource-cases.ts";
import { sandboxCases } from "./sandbox-cases.ts";
import { injectionCases, secretCases } from "./secret-cases.ts";
import { sessionCases } from "./session-cases.ts";
import { transportCases } from "./transport-cases.ts";
import { trustCases } from "./trust-cases.ts";
import { webFetchCases } from "./web-fetch-cases.ts";

const tables = [
  ...[permissionCases, webFetchCases, secretCases, injectionCases, displayCases, resourceCases, hookCases, trustCases],
  ...[sandboxCases, sessionCases, checkpointCases, contextCases, mcpCases, transportCases, pluginCases],
];

describe("the shared file of security cases", () => {
  it("is run whole: every case has one test, and no test has lost its case", () => {
    const tested = tables.flatMap((table) => Object.keys(table));
    const ids = allCases.map(({ id }) => id);
    assert.deepEqual(
      {
        cases: ids.length,
        twice: tested.filter((id, index) => tested.indexOf(id) !== index),
        untested: ids.filter((id) => !tested.includes(id)),
        unknown: tested.filter((id) => !ids.includes(id)),
      },
      { cases: 270, twice: [], untested: [], unknown: [] },
    );
  });
});
