import { isRecord } from "../../../util/is-record.ts";

/** What is wrong with a document, where, and by which rule of the format. */
export type TrajectoryProblem = { readonly path: string; readonly rule: string; readonly message: string };

/** `strict`: no value is converted and the specification's own rules count. `harbor`: what Harbor's models accept is accepted. */
export type ValidationMode = "strict" | "harbor";

/** One look at a document: what it is checked against, and what was found. */
export type Checking = {
  /** The minor version: 7 for 1.7. */
  readonly version: number;
  readonly strict: boolean;
  readonly problems: TrajectoryProblem[];
};

export type Check = (value: unknown, path: string, checking: Checking) => void;

export type Field = {
  readonly check: Check;
  readonly required?: boolean | ((version: number) => boolean);
  /** The minor version in which the field came. */
  readonly since?: number;
};

export type JsonRecord = Record<string, unknown>;

/** Present and not null. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function report(checking: Checking, path: string, problem: { rule: string; message: string }): void {
  checking.problems.push({ path, ...problem });
}

function wrongType(checking: Checking, path: string, expected: string, value: unknown): void {
  report(checking, path, { rule: "type", message: `expected ${expected}, got ${nameOf(value)}` });
}

/** Every field of an object; one that is unknown, too new or missing is a problem. An optional one may be null. */
export function checkFields(
  value: JsonRecord,
  path: string,
  given: { fields: Readonly<Record<string, Field>>; checking: Checking },
): void {
  const { fields, checking } = given;
  for (const name of Object.keys(value)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field) report(checking, `${path}.${name}`, { rule: "unknown-field", message: "the format has no such field" });
    else if (field.since !== undefined && field.since > checking.version)
      report(checking, `${path}.${name}`, {
        rule: "version-field",
        message: `the field exists since ATIF-v1.${field.since}, and this is checked as v1.${checking.version}`,
      });
  }
  for (const [name, { check, required = false }] of Object.entries(fields)) {
    const present = Object.hasOwn(value, name) ? value[name] : undefined;
    const needed = typeof required === "function" ? required(checking.version) : required;
    if (present === undefined && needed)
      report(checking, `${path}.${name}`, { rule: "required", message: "the field is missing" });
    else if (present !== undefined && (present !== null || needed)) check(present, `${path}.${name}`, checking);
  }
}

export const text: Check = (value, path, checking) => {
  if (typeof value !== "string") wrongType(checking, path, "string", value);
};

export const object: Check = (value, path, checking) => {
  if (!isRecord(value)) wrongType(checking, path, "object", value);
};

export function objectOf(inside: (value: JsonRecord, path: string, checking: Checking) => void): Check {
  return (value, path, checking) => {
    if (isRecord(value)) inside(value, path, checking);
    else wrongType(checking, path, "object", value);
  };
}

/** An object of exactly these fields. */
export function shape(fields: Readonly<Record<string, Field>>): Check {
  return objectOf((value, path, checking) => checkFields(value, path, { fields, checking }));
}

export function listOf(check: (value: unknown, path: string, given: { index: number; checking: Checking }) => void): Check {
  return (value, path, checking) => {
    if (!Array.isArray(value)) return wrongType(checking, path, "array", value);
    value.forEach((item: unknown, index) => {
      check(item, `${path}[${index}]`, { index, checking });
    });
  };
}

export function integer(least?: number): Check {
  return (value, path, checking) => {
    const number = toInteger(value, checking.strict);
    if (number === undefined) return wrongType(checking, path, "integer", value);
    if (least !== undefined && number < least)
      report(checking, path, { rule: "range", message: `must be ${least} or more, got ${number}` });
  };
}

export function number(least?: number): Check {
  return (value, path, checking) => {
    const read = toNumber(value, checking.strict);
    if (read === undefined) return wrongType(checking, path, "number", value);
    if (least !== undefined && !(read >= least)) report(checking, path, { rule: "range", message: `must be ${least} or more` });
  };
}

export const boolean: Check = (value, path, checking) => {
  if (typeof value === "boolean" || (!checking.strict && isLaxBoolean(value))) return;
  wrongType(checking, path, "boolean", value);
};

export const textOrNumber: Check = (value, path, checking) => {
  if (typeof value === "string" || toNumber(value, checking.strict) !== undefined) return;
  wrongType(checking, path, "string or number", value);
};

/** Harbor's models also read numbers from texts and booleans. */
export function toInteger(value: unknown, strict: boolean): number | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? value : undefined;
  if (strict) return undefined;
  if (typeof value === "boolean") return Number(value);
  if (typeof value === "string" && /^\s*[+-]?\d+(?:_\d+)*(?:\.0*)?\s*$/.test(value)) return Number(value.replaceAll("_", ""));
  return undefined;
}

function toNumber(value: unknown, strict: boolean): number | undefined {
  if (typeof value === "number") return value;
  if (strict) return undefined;
  if (typeof value === "boolean") return Number(value);
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const read = Number(value.trim().replaceAll("_", ""));
  return Number.isFinite(read) ? read : undefined;
}

function isLaxBoolean(value: unknown): boolean {
  if (value === 0 || value === 1) return true;
  return typeof value === "string" && /^(?:0|1|t|f|y|n|true|false|yes|no|on|off)$/i.test(value);
}

export function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Deeper than this no document of a run goes, and a stack has an end. */
export const maxDepth = 32;

/** How many embedded trajectories a path leads through. */
export function depthOf(path: string): number {
  return path.split(".subagent_trajectories").length - 1;
}
