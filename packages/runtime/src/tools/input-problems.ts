import type { JsonObject } from "../protocol/content.ts";
import { nearest } from "../util/nearest.ts";
import { isRecord } from "../util/is-record.ts";

/** One entry of a JSON Schema validator's flat output: outer keywords come before the inner ones that made them fail. */
export type SchemaProblem = { keyword: string; keywordLocation: string; instanceLocation: string; error: string };

type Subject = { problems: readonly SchemaProblem[]; schema: JsonObject; input: unknown };

const maxSentences = 4;
const maxListed = 50;
/** These only say that something inside them failed, and that is in the list too. */
const wrappers: ReadonlySet<string> = new Set([
  "$ref",
  "$recursiveRef",
  "additionalItems",
  "additionalProperties",
  "allOf",
  "dependentSchemas",
  "if",
  "items",
  "patternProperties",
  "prefixItems",
  "properties",
  "unevaluatedItems",
  "unevaluatedProperties",
]);

/** A few sentences that say which property is wrong, what was expected and what came. */
export function describeProblems(subject: Subject): string {
  const sentences = [...new Set(sentencesOf({ ...subject, problems: subject.problems.map(locateForbidden) }))];
  if (sentences.length === 0) return "The input does not fit the tool's schema.";
  const more = sentences.length - maxSentences;
  if (more > 0) sentences.splice(maxSentences, more, `There ${more === 1 ? "is 1 more problem" : `are ${more} more problems`}.`);
  return sentences.join(" ");
}

/** The library files a `false` schema under the instance's location; its place in the schema is that of the keyword before it. */
function locateForbidden(problem: SchemaProblem, index: number, all: readonly SchemaProblem[]): SchemaProblem {
  if (problem.keyword !== "false") return problem;
  return { ...problem, keywordLocation: all[index - 1]?.keywordLocation ?? "#" };
}

function sentencesOf(subject: Subject): string[] {
  const sentences: string[] = [];
  for (let index = 0; index < subject.problems.length; index++) {
    const problem = subject.problems[index];
    if (!problem || wrappers.has(problem.keyword)) continue;
    const inner = problemsUnder(problem, subject.problems, index + 1);
    index += inner.length;
    if (problem.keyword === "anyOf" || problem.keyword === "oneOf")
      sentences.push(...unionSentences(problem, { ...subject, problems: inner }));
    else sentences.push(sentenceOf(problem, subject));
  }
  return sentences;
}

/** Those of `all` from `start` on that belong to it. */
function problemsUnder(outer: SchemaProblem, all: readonly SchemaProblem[], start: number): SchemaProblem[] {
  const hasInner = ["anyOf", "oneOf", "contains", "propertyNames"].includes(outer.keyword);
  if (!hasInner) return []; // most have none: a copy of the rest for each would take the square of their number
  const following = all.slice(start);
  const end = following.findIndex(
    (problem) =>
      problem.keywordLocation !== outer.keywordLocation && !problem.keywordLocation.startsWith(`${outer.keywordLocation}/`),
  );
  return end === -1 ? [...following] : following.slice(0, end);
}

/** Nobody wants the complaints of every branch: only of the one that was meant, if that can be told. */
function unionSentences(union: SchemaProblem, inside: Subject): string[] {
  const branches = new Map<string, SchemaProblem[]>();
  for (const problem of inside.problems) {
    const branch = problem.keywordLocation.slice(union.keywordLocation.length + 1).split("/")[0] ?? "";
    branches.set(branch, [...(branches.get(branch) ?? []), problem]);
  }
  const name = nameOf(union.instanceLocation);
  const forms = lookUp(inside.schema, union.keywordLocation);
  if (Array.isArray(forms) && branches.size < forms.length)
    return [`${name} fits more than one of the forms that exclude each other.`];

  const otherKind = (problem: SchemaProblem): boolean =>
    problem.instanceLocation === union.instanceLocation && problem.keyword === "type";
  const candidates = [...branches.values()].filter((problems) => !problems.some(otherKind));
  const meant = candidates.filter((problems) => !problems.some((problem) => problem.keyword === "const"));
  const only = meant.length === 1 ? meant[0] : candidates.length === 1 ? candidates[0] : undefined;
  if (only) return sentencesOf({ ...inside, problems: only });

  if (candidates.length === 0) {
    const types = inside.problems.filter(otherKind).flatMap((problem) => typesAt(problem, inside.schema));
    return [
      `${name} must be ${listOf([...new Set(types)].map(withArticle), "or")}, not ${describeValue(valueAt(union, inside.input))}.`,
    ];
  }
  const closest = [...candidates].sort((a, b) => a.length - b.length)[0] ?? [];
  return [`${name} fits none of the allowed forms.`, ...sentencesOf({ ...inside, problems: closest }).slice(0, 2)];
}

function sentenceOf(problem: SchemaProblem, { schema, input }: Subject): string {
  const name = nameOf(problem.instanceLocation);
  const value = valueAt(problem, input);
  const expected = lookUp(schema, problem.keywordLocation);
  const shown = describeValue(value);
  switch (problem.keyword) {
    case "type":
      return `${name} must be ${listOf(typesAt(problem, schema).map(withArticle), "or")}, not ${shown}.`;
    case "required":
      return missingSentence({ problem, expected, value });
    case "false":
      return unknownSentence(problem, schema);
    case "enum":
      return `${name} must be one of ${Array.isArray(expected) ? listOf(expected.map(shorten), "or") : "the listed values"}, not ${shown}.`;
    case "const":
      return `${name} must be ${shorten(expected)}, not ${shown}.`;
    case "minimum":
      return `${name} must be at least ${shorten(expected)}, not ${shorten(value)}.`;
    case "maximum":
      return `${name} must be at most ${shorten(expected)}, not ${shorten(value)}.`;
    case "exclusiveMinimum":
      return `${name} must be more than ${shorten(expected)}, not ${shorten(value)}.`;
    case "exclusiveMaximum":
      return `${name} must be less than ${shorten(expected)}, not ${shorten(value)}.`;
    case "multipleOf":
      return `${name} must be a multiple of ${shorten(expected)}, not ${shorten(value)}.`;
    case "minLength":
      return `${name} must have at least ${plural(expected, "character")}.`;
    case "maxLength":
      return `${name} must have at most ${plural(expected, "character")}.`;
    case "minItems":
      return `${name} must have at least ${plural(expected, "item")}.`;
    case "maxItems":
      return `${name} must have at most ${plural(expected, "item")}.`;
    case "uniqueItems":
      return `${name} must not hold the same item twice.`;
    case "minProperties":
      return `${name} must have at least ${plural(expected, "property")}.`;
    case "maxProperties":
      return `${name} must have at most ${plural(expected, "property")}.`;
    case "pattern":
      return `${name} must match the pattern ${shorten(expected)}, which ${shown} does not.`;
    case "format":
      return `${name} must be a valid ${String(expected)}, not ${shown}.`;
    default:
      return `${name} does not fit the schema's "${problem.keyword}": ${problem.error}`;
  }
}

function missingSentence(facts: { problem: SchemaProblem; expected: unknown; value: unknown }): string {
  const { problem, expected, value } = facts;
  const names = Array.isArray(expected) ? expected.map(String) : [];
  const missing = names.filter((name) => !isRecord(value) || !Object.hasOwn(value, name));
  const quoted = missing.map((name) => nameOf(`${problem.instanceLocation}/${encodeURIComponent(escapePointer(name))}`));
  return `${listOf(quoted, "and")} ${missing.length > 1 ? "are" : "is"} required but missing.`;
}

function unknownSentence(problem: SchemaProblem, schema: JsonObject): string {
  const name = nameOf(problem.instanceLocation);
  const owner = lookUp(schema, problem.keywordLocation.split("/").slice(0, -1).join("/"));
  const known = isRecord(owner) && isRecord(owner["properties"]) ? Object.keys(owner["properties"]) : [];
  const typed = segmentsOf(problem.instanceLocation).at(-1) ?? "";
  if (known.length === 0 || known.includes(typed)) return `${name} is not allowed here.`;
  const close = nearest(typed, known);
  if (close) return `${name} is not a known property; did you mean "${close}"?`;
  return `${name} is not a known property; the known ones are ${listOf(
    known.map((key) => `"${key}"`),
    "and",
  )}.`;
}

function typesAt(problem: SchemaProblem, schema: JsonObject): string[] {
  const type = lookUp(schema, problem.keywordLocation);
  if (Array.isArray(type)) return type.map(String);
  return typeof type === "string" ? [type] : ["of another type"];
}

/** What stands at a location in the schema; `$ref` steps are followed when they stay inside the schema. */
function lookUp(schema: JsonObject, location: string): unknown {
  let node: unknown = schema;
  for (const segment of segmentsOf(location)) {
    const next = childOf(node, segment);
    const leavesRef = segment === "$ref" && typeof next === "string";
    node = leavesRef ? (next.startsWith("#") ? lookUp(schema, next) : undefined) : next;
  }
  return node;
}

function valueAt(problem: SchemaProblem, input: unknown): unknown {
  return segmentsOf(problem.instanceLocation).reduce<unknown>(childOf, input);
}

function childOf(node: unknown, segment: string): unknown {
  if (Array.isArray(node)) return node[Number(segment)];
  return isRecord(node) && Object.hasOwn(node, segment) ? node[segment] : undefined;
}

/** `#/edits/0/old_string` as a person would write it: `"edits[0].old_string"`. */
function nameOf(location: string): string {
  const segments = segmentsOf(location);
  if (segments.length === 0) return "The input";
  const path = segments.reduce((path, segment) => {
    if (/^\d+$/.test(segment)) return `${path}[${segment}]`;
    return path ? `${path}.${segment}` : segment;
  }, "");
  return `"${path}"`;
}

function segmentsOf(location: string): string[] {
  return location
    .split("/")
    .slice(1)
    .map((segment) => decode(segment).replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** A reference may hold a percent sign that stands for itself. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (isRecord(value)) return "an object";
  if (typeof value === "string" || typeof value === "number") return `the ${typeof value} ${shorten(value)}`;
  return String(value);
}

function shorten(value: unknown): string {
  const json = JSON.stringify(value) ?? "undefined";
  return json.length > 80 ? `${json.slice(0, 77)}…` : json;
}

function withArticle(type: string): string {
  if (type === "null" || type.includes(" ")) return type;
  return /^[aio]/.test(type) ? `an ${type}` : `a ${type}`;
}

function plural(count: unknown, noun: string): string {
  if (count === 1) return `1 ${noun}`;
  return `${String(count)} ${noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`}`;
}

function listOf(items: readonly string[], word: "and" | "or"): string {
  if (items.length < 2) return items.join("");
  if (items.length > maxListed) return `${items.slice(0, maxListed).join(", ")} ${word} ${items.length - maxListed} more`;
  return `${items.slice(0, -1).join(", ")} ${word} ${items.at(-1)}`;
}
