import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Validator } from "@cfworker/json-schema";

export const root: string = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const fixtures = join(root, "test/fixtures/atif");

type ReferenceResult = { ok: boolean; errors: { path: string; rule: string }[]; warnings: { path: string; rule: string }[] };
type ReferenceOptions = { mode: "strict" | "harbor"; dir?: string; target?: string };

/** The validator that was handed down with the format, as it is: what ours has to agree with. */
export async function loadReference(): Promise<(value: unknown, options: ReferenceOptions) => ReferenceResult> {
  const url = pathToFileURL(join(fixtures, "validate.mjs")).href; // not bundled: it runs as a program when it is the main file
  return (await import(url)).validate;
}

export const casesFolder: string = join(fixtures, "cases");

/** The examples of one rule each, by name. */
export function loadCases(): { name: string; value: Record<string, unknown> }[] {
  return readdirSync(casesFolder).map((name) => ({ name, value: JSON.parse(readFileSync(join(casesFolder, name), "utf8")) }));
}

/** What the JSON Schema of a version has against a document. */
export function schemaErrors(value: unknown, version: "1.4" | "1.7" | "1.8"): string[] {
  const schema = JSON.parse(readFileSync(join(fixtures, `atif.v${version}.schema.json`), "utf8"));
  return new Validator(schema, "2020-12", false)
    .validate(value)
    .errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
}
