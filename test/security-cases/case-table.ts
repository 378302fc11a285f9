import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { type PermissionCase, parseCase } from "../../packages/runtime/src/permissions/judge-case.ts";

/** A line of the shared file: a situation, what happens in it, and what must come of that. */
export type SecurityCase = PermissionCase & { readonly why: string };

export type CaseTest = (one: SecurityCase, test: TestContext) => Promise<void> | void;
/** Tests by the id of their case. */
export type CaseTable = Readonly<Record<string, CaseTest>>;

const file = join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "test/fixtures/security-cases.jsonl");

export const allCases: readonly SecurityCase[] = readFileSync(file, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => {
    const value: { why?: unknown } = JSON.parse(line);
    return { ...parseCase(value), why: String(value.why ?? "") };
  });

export function casesOf(area: string): readonly SecurityCase[] {
  return allCases.filter((one) => one.area === area);
}

/** One test per case of the area. A case without a test fails, so that a new line in the file cannot go unnoticed. */
export function runCases(area: string, table: CaseTable): void {
  describe(`security cases: ${area}`, () => {
    for (const one of casesOf(area)) {
      it(`${one.id}: ${one.why}`, async (test) => {
        const run = table[one.id];
        if (!run) throw new Error(`There is no test for ${one.id} (${JSON.stringify(one.input)} → ${one.expected})`);
        await run(one, test);
      });
    }
  });
}

/** A folder that is gone when the case is done. */
export function folderFor(test: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "outrider-case-")));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
