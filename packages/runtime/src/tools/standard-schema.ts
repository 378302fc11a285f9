import type { JsonObject } from "../protocol/content.ts";
import { isRecord } from "../util/is-record.ts";
import { isTooDeep } from "../util/too-deep.ts";
import { type InputCheck, maxInputDepth } from "./input.ts";
import { messageOf } from "../util/message-of.ts";

/** A schema of any library that keeps to Standard Schema, version 1: zod from 3.24 on, valibot, arktype and others. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: number;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export type StandardIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

/** A schema of zod from before it kept to the standard. */
export interface EarlyZodSchema<Output = unknown> {
  readonly _output: Output;
  safeParseAsync(
    value: unknown,
  ): Promise<{ readonly success: true; readonly data: Output } | { readonly success: false; readonly error: EarlyZodError }>;
}

type EarlyZodError = { readonly issues: readonly { readonly message: string; readonly path: readonly PropertyKey[] }[] };

/** A schema that checks values itself. What it makes of them (defaults, other types) is its output. */
export type LibrarySchema<Output = unknown> = StandardSchema<Output> | EarlyZodSchema<Output>;

/** JSON Schema (draft 7 or 2020-12), a schema of a library, or anything that says what it is in JSON Schema. */
export type SchemaSource<Output = unknown> = JsonObject | LibrarySchema<Output> | { toJSONSchema(options?: object): unknown };

export function isLibrarySchema(source: unknown): source is LibrarySchema {
  const { "~standard": standard, safeParseAsync } = Object(source) as Record<string, unknown>; // schemas may be functions, and are read by key like objects
  return typeof safeParseAsync === "function" || (isRecord(standard) && typeof standard["validate"] === "function");
}

export type Parsed<Output> = { readonly ok: true; readonly value: Output } | (InputCheck & { readonly ok: false });

/** What a schema makes of a value, or what is wrong with the value, in words for the model. Never rejects: schemas hold code of programs. */
export async function parseWith<Output>(schema: LibrarySchema<Output>, value: unknown): Promise<Parsed<Output>> {
  if (value === undefined) return { ok: false, message: "The input is missing." };
  if (isTooDeep(value, maxInputDepth)) return { ok: false, message: `The input is nested more than ${maxInputDepth} deep.` };
  try {
    const result = await validate(schema, value);
    return result.issues ? { ok: false, message: describe(result.issues) } : { ok: true, value: result.value };
  } catch (error) {
    const reason = messageOf(error);
    return { ok: false, message: `The input could not be checked: ${reason}` };
  }
}

async function validate<Output>(schema: LibrarySchema<Output>, value: unknown): Promise<StandardResult<Output>> {
  if ("~standard" in schema) return await schema["~standard"].validate(value);
  const result = await schema.safeParseAsync(value);
  return result.success ? { value: result.data } : { issues: result.error.issues };
}

const maxIssues = 20;

function describe(issues: readonly StandardIssue[]): string {
  const lines = issues.slice(0, maxIssues).map(({ message, path = [] }) => {
    const place = path.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
    return place === "" ? message : `${place}: ${message}`;
  });
  const more = issues.length > maxIssues ? [`and ${issues.length - maxIssues} more`] : [];
  return lines.length === 0 ? "It does not fit the schema." : [...lines, ...more].join("; ");
}
