import { parseFrontmatter } from "../../context/frontmatter.ts";
import { withoutHiddenText } from "../../context/hidden-text.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import { toRuntimeError } from "../../protocol/errors.ts";
import type { Skill, SkillEffort } from "./skill.ts";
import { type Said, type SkillPlace, toSkill } from "./said.ts";

export type ParsedSkill = {
  readonly skill: Skill;
  /** What is wrong with the file, a sentence each; the skill works as far as it can. */
  readonly problems: readonly string[];
  /** What is below the head. */
  readonly body: string;
};

/** Text of a file to a skill. A head that is no YAML counts as none: its text is not lost because of it. */
export async function parseSkill(text: string, place: SkillPlace, shown: string = place.path): Promise<ParsedSkill> {
  const { said, problems, body } = readSimple(text, place, shown) ?? (await readOther(text, place, shown));
  return { skill: toSkill(said, place), problems, body };
}

export type Reading = { readonly said: Said; readonly problems: readonly string[]; readonly body: string };

/** Heads of plain or quoted words are most of them, and a thousand of them must not take the time of a YAML reader. Undefined for any other one. */
export function readSimple(text: string, { kind }: SkillPlace, shown: string): Reading | undefined {
  const { visible, problems } = makeVisible(text, shown);
  const head = readSimpleHead(visible);
  return head && { said: toSaid(head, kind, { shown, problems }), problems, body: head.body };
}

export async function readOther(text: string, { kind }: SkillPlace, shown: string): Promise<Reading> {
  const { visible, problems } = makeVisible(text, shown);
  const { problem, ...head } = await readHead(visible, shown);
  if (problem !== undefined) problems.push(problem);
  return { said: toSaid(head, kind, { shown, problems }), problems, body: head.body };
}

function makeVisible(text: string, shown: string): { readonly visible: string; readonly problems: string[] } {
  const { text: visible, invisible } = withoutHiddenText(text.startsWith("\uFEFF") ? text.slice(1) : text);
  return { visible, problems: invisible > 0 ? [`${invisible} invisible characters were taken out of ${shown}`] : [] };
}

type Told = { readonly shown: string; readonly problems: string[] };

/** Only what the head names is looked at. */
function toSaid({ attributes, body }: Head, kind: Skill["kind"], told: Told): Said {
  const said: Said = {};
  let whenToUse: string | undefined;
  let isEmpty = true;
  for (const key in attributes) {
    isEmpty = false;
    const value = attributes[key];
    if (value === undefined || value === null) continue;
    const field = new Field(key, value, told);
    switch (key) {
      case "name":
        said.label = field.text();
        break;
      case "description":
        said.description = field.text();
        break;
      case "when_to_use":
        whenToUse = field.text();
        break;
      case "argument-hint":
        said.argumentHint = field.text();
        break;
      case "arguments":
        said.argumentNames = field.words();
        break;
      case "allowed-tools":
        said.allowedTools = field.rules();
        break;
      case "disallowed-tools":
        said.disallowedTools = field.rules();
        break;
      case "model":
        said.model = field.text();
        break;
      case "effort":
        said.effort = field.effort();
        break;
      case "hooks":
        said.hooks = field.map();
        break;
      case "context":
        if (field.text() === "fork") said.forks = true;
        break;
      case "agent":
        said.agent = field.text();
        break;
      case "disable-model-invocation":
        if (field.flag() === true) said.modelInvocable = false;
        break;
      case "user-invocable":
        if (field.flag() === false) said.userInvocable = false;
        break;
      case "paths":
        if (kind === "skill") said.paths = field.list(/,/);
        break;
    }
  }
  const description = said.description ?? firstLine(body, kind);
  said.description = whenToUse ? `${description} - ${whenToUse}` : description;
  if (isEmpty) said.hasHead = false;
  return said;
}

/** What is known about heads; anything else is the author's own business. */
export const knownKeys: readonly string[] = (
  "name description when_to_use argument-hint arguments disable-model-invocation user-invocable allowed-tools disallowed-tools model effort " +
  "context agent background hooks paths shell metadata license compatibility version"
).split(" ");

type Head = { readonly attributes: JsonObject; readonly body: string; readonly problem?: string };

async function readHead(text: string, shown: string): Promise<Head> {
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

class Field {
  readonly #key: string;
  readonly #value: Exclude<JsonValue, null>;
  readonly #told: Told;

  constructor(key: string, value: Exclude<JsonValue, null>, told: Told) {
    this.#key = key;
    this.#value = value;
    this.#told = told;
  }

  /** On one line, without the spaces of a folded text. */
  text(): string | undefined {
    if (typeof this.#value === "object") return this.#wrong("a text");
    return String(this.#value).replace(/\s+/g, " ").trim() || undefined;
  }

  flag(): boolean | undefined {
    return words[String(this.#value).toLowerCase()] ?? this.#wrong("true or false");
  }

  /** A list, or one text that is cut at `between`. */
  list(between: RegExp): string[] {
    const value = this.#value;
    if (Array.isArray(value)) return value.filter((item) => typeof item === "string" || typeof item === "number").map(String);
    if (typeof value === "object") return this.#wrong("a text or a list") ?? [];
    return String(value)
      .split(between)
      .map((part) => part.trim())
      .filter(Boolean);
  }

  words(): string[] {
    return this.list(/[\s,]+/).filter((name) => /^[A-Za-z_]\w*$/.test(name));
  }

  map(): JsonObject | undefined {
    return isJsonObject(this.#value) ? this.#value : this.#wrong("an object");
  }

  /** `Read, Bash(git add *) Grep`: between rules stands a comma or a space, and none of them counts inside of brackets. */
  rules(): string[] {
    if (typeof this.#value !== "string") return this.list(/,/);
    return this.list(/$^/).flatMap((text) => text.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? []);
  }

  effort(): SkillEffort | undefined {
    const value = this.text()?.toLowerCase();
    if (value === undefined) return undefined;
    return efforts.find((effort) => effort === value) ?? this.#wrong(efforts.join(", "));
  }

  #wrong(expected: string): undefined {
    this.#told.problems.push(`${this.#told.shown}: ${this.#key} should be ${expected}`);
    return undefined;
  }
}
