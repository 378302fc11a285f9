import { parseFrontmatter } from "../../context/frontmatter.ts";
import { withoutHiddenText } from "../../context/hidden-text.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import { toRuntimeError } from "../../protocol/errors.ts";
import { defined } from "../../util/defined.ts";
import type { Skill, SkillEffort } from "./skill.ts";

export type SkillPlace = Pick<Skill, "name" | "kind" | "scope" | "path" | "folder" | "within" | "plugin">;

export type ParsedSkill = {
  readonly skill: Skill;
  /** What is wrong with the file, a sentence each; the skill works as far as it can. */
  readonly problems: readonly string[];
  /** What is below the head. */
  readonly body: string;
};

/** Text of a file to a skill. A head that is no YAML counts as none: its text is not lost because of it. */
export async function parseSkill(text: string, place: SkillPlace, shown: string = place.path): Promise<ParsedSkill> {
  const { text: visible, invisible } = withoutHiddenText(text.startsWith("\uFEFF") ? text.slice(1) : text);
  const problems = invisible > 0 ? [`${invisible} invisible characters were taken out of ${shown}`] : [];
  const { attributes, body, problem } = await readHead(visible, shown);
  if (problem !== undefined) problems.push(problem);
  const field = new Fields(attributes, shown, problems);
  const description = field.text("description") ?? firstLine(body, place.kind);
  const whenToUse = field.text("when_to_use");
  const skill: Skill = {
    ...place,
    label: field.text("name"),
    description: [description, whenToUse].filter(Boolean).join(" - "),
    argumentHint: field.text("argument-hint"),
    argumentNames: field.words("arguments"),
    allowedTools: field.rules("allowed-tools"),
    disallowedTools: field.rules("disallowed-tools"),
    model: field.text("model"),
    effort: field.effort(),
    hooks: field.map("hooks"),
    forks: field.text("context") === "fork",
    agent: field.text("agent"),
    modelInvocable: !field.flag("disable-model-invocation", false),
    userInvocable: field.flag("user-invocable", true),
    paths: place.kind === "skill" ? field.list("paths", /,/) : [],
    hasHead: Object.keys(attributes).length > 0,
  };
  return { skill: defined(skill) as Skill, problems, body };
}

/** What is known about heads; anything else is the author's own business. */
export const knownKeys: readonly string[] = (
  "name description when_to_use argument-hint arguments disable-model-invocation user-invocable allowed-tools disallowed-tools model effort " +
  "context agent background hooks paths shell metadata license compatibility version"
).split(" ");

type Head = { readonly attributes: JsonObject; readonly body: string; readonly problem?: string };

async function readHead(text: string, shown: string): Promise<Head> {
  const simple = readSimpleHead(text);
  if (simple) return simple;
  try {
    return await parseFrontmatter(text, shown);
  } catch (error) {
    const body = /^---[ \t]*\r?\n[\s\S]*?^---[ \t]*(?:\r?\n|$)/m.exec(text)?.[0].length ?? 0;
    return {
      attributes: {},
      body: text.slice(body),
      problem: `${toRuntimeError(error).message}; what it says about itself was left out`,
    };
  }
}

/** A value that begins with a letter, or stands in quotes with nothing in them that YAML would change. */
const simpleLine = /^([a-z][\w-]*):[ \t]+(?:([A-Za-z][^\r\n]*?)|"([^"\\\r\n]*)"|'([^'\r\n]*)')[ \t]*\r?$/;

/** Heads of plain or quoted words are most of them, and a thousand of them must not take the time of a YAML reader. Undefined for any other one. */
function readSimpleHead(text: string): Head | undefined {
  const opening = /^---[ \t]*\r?\n/.exec(text);
  if (!opening) return { attributes: {}, body: text };
  const end = /^---[ \t]*(?:\r?\n|$)/m.exec(text.slice(opening[0].length));
  if (!end) return undefined;
  const attributes: Record<string, JsonValue> = {};
  for (const line of text.slice(opening[0].length, opening[0].length + end.index).split("\n")) {
    if (line.trim() === "") continue;
    const [, key = "", plain, ...quoted] = simpleLine.exec(line) ?? [];
    const isOther = plain !== undefined && /:(?:\s|$)|\s#|^(?:true|false|null)$/i.test(plain);
    if (key === "" || isOther || Object.hasOwn(attributes, key)) return undefined;
    attributes[key] = plain ?? quoted.find((value) => value !== undefined) ?? "";
  }
  return { attributes, body: text.slice(opening[0].length + end.index + end[0].length) };
}

/** The first words of the text, when the file says nothing else about itself. */
function firstLine(body: string, kind: Skill["kind"]): string {
  const line = body.split("\n").find((words) => words.trim() !== "");
  return (
    line
      ?.replace(/^#+\s*/, "")
      .trim()
      .slice(0, 500) || (kind === "skill" ? "Skill" : "Command")
  );
}

const words: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  "1": true,
  false: false,
  no: false,
  off: false,
  "0": false,
};

const efforts = ["low", "medium", "high", "xhigh", "max"] as const;

class Fields {
  readonly #values: JsonObject;
  readonly #shown: string;
  readonly #problems: string[];

  constructor(values: JsonObject, shown: string, problems: string[]) {
    this.#values = values;
    this.#shown = shown;
    this.#problems = problems;
  }

  /** On one line, without the spaces of a folded text. */
  text(key: string): string | undefined {
    const value = this.#values[key];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "object") return this.#wrong(key, "a text");
    return String(value).replace(/\s+/g, " ").trim() || undefined;
  }

  flag(key: string, usual: boolean): boolean {
    const value = this.#values[key];
    if (value === undefined || value === null) return usual;
    const known = words[String(value).toLowerCase()];
    if (known === undefined) this.#wrong(key, "true or false");
    return known ?? usual;
  }

  /** A list, or one text that is cut at `between`. */
  list(key: string, between: RegExp): string[] {
    const value = this.#values[key];
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value.filter((item) => typeof item === "string" || typeof item === "number").map(String);
    if (typeof value === "object") return this.#wrong(key, "a text or a list") ?? [];
    return String(value)
      .split(between)
      .map((part) => part.trim())
      .filter(Boolean);
  }

  words(key: string): string[] {
    return this.list(key, /[\s,]+/).filter((name) => /^[A-Za-z_]\w*$/.test(name));
  }

  map(key: string): JsonObject | undefined {
    const value = this.#values[key];
    if (value === undefined || value === null) return undefined;
    return isJsonObject(value) ? value : this.#wrong(key, "an object");
  }

  /** `Read, Bash(git add *) Grep`: between rules stands a comma or a space, and none of them counts inside of brackets. */
  rules(key: string): string[] {
    if (typeof this.#values[key] !== "string") return this.list(key, /,/);
    return this.list(key, /$^/).flatMap((text) => text.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? []);
  }

  effort(): SkillEffort | undefined {
    const value = this.text("effort")?.toLowerCase();
    if (value === undefined) return undefined;
    const known = efforts.find((effort) => effort === value);
    return known ?? this.#wrong("effort", efforts.join(", "));
  }

  #wrong(key: string, expected: string): undefined {
    this.#problems.push(`${this.#shown}: ${key} should be ${expected}`);
    return undefined;
  }
}
