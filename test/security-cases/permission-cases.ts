import assert from "node:assert/strict";
import { isAsExpected, judgeCase } from "../../packages/runtime/src/permissions/judge-case.ts";
import { type CaseTable, casesOf } from "./case-table.ts";

/** Decided by the real engine; nothing is run. */
export const permissionCases: CaseTable = Object.fromEntries(
  [...casesOf("shell-permission"), ...casesOf("path")].map((one) => [
    one.id,
    async () => {
      const verdict = await judgeCase(one);
      assert.ok(verdict && isAsExpected(verdict), JSON.stringify({ verdict, input: one.input }));
    },
  ]),
);
