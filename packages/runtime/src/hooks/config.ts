import { parseRule, type Rule } from "../permissions/rules.ts";
import { isJsonObject, type JsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { HookEventName } from "../protocol/events.ts";
import { hookEventNames, isHookEvent } from "./event-names.ts";
import { nearest } from "../util/nearest.ts";
import { isAllowedUrl } from "./allowed-urls.ts";
import type { Hook, HookAction, HookCallback, HookSet } from "./hook.ts";
import { readMatcher } from "./matcher.ts";
import { isRecord } from "../util/is-record.ts";
import { messageOf } from "../util/message-of.ts";

export type HookSource = {
  /** What stands under `hooks` in a settings file, or what a program passed. */
  readonly value: unknown;
  /** The file or flag, for messages. */
  readonly source: string;
  /** Nothing of an untrusted source runs. */
  readonly trusted: boolean;
  /** Of this source only guards run. */
  readonly guardsOnly?: boolean;
  /** Written for Claude Code, maybe for another release of it; known by its folder when absent. */
  readonly isForeign?: boolean;
  /** The line of something in the file; paths start with `"hooks"`. */
  lineOf?(path: readonly (string | number)[]): number | undefined;
};

export type HookLimits = {
  /** Where http hooks may send to, such as `https://hooks.example.com/*`; nowhere when absent. */
  readonly allowedHttpHookUrls?: readonly string[];
  /** Only guards are left. */
  readonly disableAllHooks?: boolean;
};

/** In seconds; what somebody waits for before anything happens is shorter. */
const defaultTimeouts = { command: 600, http: 600, mcp_tool: 600, prompt: 30, agent: 60, callback: 60 } as const;
const promptTimeout = 30;
const maxTimeoutSeconds = 24 * 60 * 60;

/** Events of Claude Code that never come here: its settings are read, and a person is told what will not happen. */
const foreignEvents: ReadonlySet<string> = new Set([
  "ConfigChange",
  "DirectoryAdded",
  "FileChanged",
  "MessageDisplay",
  "PermissionDenied",
  "PostModelSwitch",
  "PreModelSwitch",
  "TeammateIdle",
]);

/** Hooks of all layers, united: no layer can take away what another one wrote. Guards stand last, so that they see what would really happen. */
export function parseHooks(sources: readonly HookSource[], limits: HookLimits = {}): HookSet {
  const ignored = sources.filter((source) => !source.trusted).flatMap(({ value, source }) => namesIn(value, source));
  const notes: string[] = [];
  const trusted = sources.filter((source) => source.trusted).map((source): ReadSource => ({ ...source, notes }));
  const hooks = trusted.flatMap((source) => parseSource(source, limits).filter(({ guard }) => guard || !source.guardsOnly));
  const guards = hooks.filter((hook) => hook.guard);
  return {
    hooks: limits.disableAllHooks ? guards : [...hooks.filter((hook) => !hook.guard), ...guards],
    ignored,
    warnings: [...trusted.flatMap(foreignIn), ...notes],
  };
}

function namesIn(value: unknown, source: string): string[] {
  return isRecord(value) ? Object.keys(value).map((event) => `hooks.${event} of ${source}`) : [];
}

function foreignIn({ value, source }: HookSource): string[] {
  const names = isRecord(value) ? Object.keys(value).filter((event) => foreignEvents.has(event)) : [];
  return names.map((event) => `${source}: hooks for ${event} never run here`);
}

/** `notes`: what of it never runs, in words for a person. */
type ReadSource = HookSource & { readonly notes: string[] };

/** Files of Claude Code's may be written for another release of it: what is not known there is told and left out. */
function isClaudeFile({ source, isForeign }: HookSource): boolean {
  return isForeign ?? /[\\/]\.claude[\\/]/.test(source);
}

function parseSource(file: ReadSource, limits: HookLimits): Hook[] {
  const { value } = file;
  const top: Place = { file, path: ["hooks"] };
  if (!isRecord(value)) throw wrong(top, "must be an object with a list for each event");
  return Object.entries(value).flatMap(([event, groups]) => {
    if (foreignEvents.has(event)) return refuseToGuard(groups, at(top, event));
    if (!isHookEvent(event)) {
      const mistake = wrong(top, `has no event "${event}"${suggest(event, hookEventNames)}`);
      if (!isClaudeFile(file)) throw mistake;
      file.notes.push(mistake.message);
      return refuseToGuard(groups, at(top, event));
    }
    const place = at(top, event);
    return list(groups, place).flatMap((group, index) => parseGroup(group, { event, limits, place: at(place, index) }));
  });
}

/** What must not fail cannot be left out. */
function refuseToGuard(groups: unknown, place: Place): [] {
  for (const group of Array.isArray(groups) ? groups : [])
    for (const hook of isRecord(group) && Array.isArray(group["hooks"]) ? group["hooks"] : [])
      if (isRecord(hook) && (hook["guard"] === true || hook["onFailure"] === "block"))
        throw wrong(place, "never runs here, so it can neither guard nor block");
  return [];
}

type Scene = { readonly event: HookEventName; readonly limits: HookLimits; readonly place: Place };

function parseGroup(value: unknown, scene: Scene): Hook[] {
  const group = fieldsOf(value, scene.place, ["matcher", "env", "hooks"]);
  const pattern = group.text("matcher") ?? "";
  const matcher = readMatcher(pattern);
  if (!matcher.ok) {
    const mistake = wrong(at(scene.place, "matcher"), `${JSON.stringify(pattern)} cannot be used: ${matcher.problem}`);
    if (!matcher.isNoExpression || !isClaudeFile(scene.place.file)) throw mistake;
    scene.place.file.notes.push(`${mistake.message}; its hooks never run`);
    return refuseToGuard([value], scene.place);
  }
  const env = group.texts("env");
  const place = at(scene.place, "hooks");
  return list(group.value("hooks"), place).flatMap((hook, index) => {
    const own = { ...scene, place: at(place, index) };
    return isForeign(hook, own) ? [] : [{ ...parseHook(hook, own, env), matcher: pattern, matches: matcher.matches }];
  });
}

const knownTypes: readonly unknown[] = ["command", "http", "mcp_tool", "prompt", "agent", "callback"];

/** Whether hooks of this type run here. */
export function isHookType(type: unknown): boolean {
  return knownTypes.includes(type);
}

/** Hooks of these events say what may happen. */
export const judgingEvents: readonly string[] = ["PreToolUse", "PermissionRequest"];

/** A type of hook that only Claude Code has, or another release of it. It may be left out only where nothing is judged. */
function isForeign(hook: unknown, { event, limits, place }: Scene): boolean {
  const { file } = place;
  const type = isRecord(hook) ? hook["type"] : undefined;
  if (!isClaudeFile(file) || typeof type !== "string" || isHookType(type)) return false;
  refuseToGuard([{ hooks: [hook] }], place);
  const mistake = wrong(place, `has the type ${type}, and such hooks never run here`, {
    hint: "What it would forbid would be allowed: write it as a command, or remove it",
  });
  if (judgingEvents.includes(event) && !limits.disableAllHooks && !file.guardsOnly) throw mistake;
  file.notes.push(mistake.message);
  return true;
}

const common = ["type", "timeout", "onFailure", "guard", "if", "once"];
/** Written by people for another program's screen; they change nothing here. */
const decoration = ["statusMessage", "description"];

function parseHook(value: unknown, scene: Scene, env: Readonly<Record<string, string>>): Omit<Hook, "matcher" | "matches"> {
  const { event, place } = scene;
  const given = typeof value === "function" ? { type: "callback", callback: value } : value;
  const { action, background, fields } = parseAction(given, scene, env);
  const guard = fields.flag("guard") ?? false;
  const asked = fields.oneOf("onFailure", ["block", "continue"] as const);
  const onFailure = asked ?? (guard ? "block" : "continue");
  // A host that judges calls and cannot be reached has not said yes.
  const onTimeout = asked ?? (action.type === "callback" && event === "PreToolUse" ? "block" : onFailure);
  if (background && (guard || onFailure === "block"))
    throw wrong(place, 'is "async": nobody waits for it, so it can neither guard nor block');
  const usual = event === "UserPromptSubmit" ? promptTimeout : defaultTimeouts[action.type];
  const seconds = fields.positive("timeout") ?? usual;
  const condition = fields.text("if");
  return {
    event,
    action,
    condition: condition === undefined ? undefined : parseCondition(condition, scene),
    timeoutMs: Math.min(seconds, maxTimeoutSeconds) * 1000,
    onFailure,
    onTimeout,
    background,
    guard,
    once: fields.flag("once") ?? false,
    source: place.file.source,
  };
}

type ParsedAction = { readonly action: HookAction; readonly background: boolean; readonly fields: Fields };

function parseAction(value: unknown, scene: Scene, env: Readonly<Record<string, string>>): ParsedAction {
  const { place } = scene;
  const type = isRecord(value) ? value["type"] : undefined;
  switch (type) {
    case "command": {
      const fields = fieldsOf(value, place, [...common, ...decoration, "command", "args", "async", "asyncRewake", "shell"]);
      fields.oneOf("shell", ["bash"]);
      const args = fields.list("args");
      const action: HookAction = { type, command: fields.needed("command"), args, env };
      const wakes = fields.flag("asyncRewake") ?? false; // what it objects is to be heard: it is waited for
      return { action, background: (fields.flag("async") ?? false) && !wakes, fields };
    }
    case "http": {
      const fields = fieldsOf(value, place, [...common, ...decoration, "url", "headers", "allowedEnvVars", "async"]);
      const url = checkUrl(fields.needed("url"), scene);
      const action: HookAction = { type, url, headers: fields.texts("headers"), variables: fields.list("allowedEnvVars") ?? [] };
      return { action, background: fields.flag("async") ?? false, fields };
    }
    case "mcp_tool": {
      const fields = fieldsOf(value, place, [...common, ...decoration, "server", "tool", "input"]);
      const input = fields.object("input") ?? {};
      return { action: { type, server: fields.needed("server"), tool: fields.needed("tool"), input }, background: false, fields };
    }
    case "prompt": {
      const fields = fieldsOf(value, place, [...common, ...decoration, "prompt", "model"]);
      return { action: { type, prompt: fields.needed("prompt"), model: fields.text("model") }, background: false, fields };
    }
    case "agent": {
      const fields = fieldsOf(value, place, [...common, ...decoration, "prompt", "model", "maxTurns"]);
      const maxTurns = fields.positive("maxTurns");
      const action: HookAction = { type, prompt: fields.needed("prompt"), model: fields.text("model"), maxTurns };
      return { action, background: false, fields };
    }
    case "callback": {
      const fields = fieldsOf(value, place, [...common, "callback"]);
      const callback = fields.value("callback");
      if (typeof callback !== "function") throw wrong(place, 'needs a function as "callback"');
      // What it takes and answers is checked at each call; more cannot be told of a function.
      return { action: { type, callback: callback as HookCallback }, background: false, fields };
    }
    default:
      throw wrong(place, `has the type ${JSON.stringify(type)}; expected command, http, mcp_tool, prompt or agent`);
  }
}

function checkUrl(url: string, { place, limits }: Scene): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw wrong(at(place, "url"), "must be an http(s) address");
  // As in Claude Code: its files say where hooks send, unless somebody has made a list. What a plugin brings needs one.
  const isFree = limits.allowedHttpHookUrls === undefined && place.file.isForeign === undefined && isClaudeFile(place.file);
  if (isFree || isAllowedUrl(url, limits.allowedHttpHookUrls ?? [])) return url;
  throw wrong(at(place, "url"), `goes to ${new URL(url).host}, which is not in allowedHttpHookUrls`, {
    hint: `Add "${new URL(url).origin}/*" to allowedHttpHookUrls in your own settings if hooks may send there`,
  });
}

function parseCondition(text: string, { event, place }: Scene): Rule {
  if (!["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"].includes(event))
    throw wrong(at(place, "if"), `is about tool calls, and ${event} is not`);
  try {
    return parseRule(text, place.file.source);
  } catch (error) {
    throw wrong(at(place, "if"), messageOf(error));
  }
}

type Place = { readonly file: ReadSource; readonly path: readonly (string | number)[] };
type Fields = ReturnType<typeof fieldsOf>;

/** Reads an object whose keys must be among `known`. */
function fieldsOf(given: unknown, place: Place, known: readonly string[]) {
  if (!isRecord(given)) throw wrong(place, "must be an object");
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const mistake = wrong(place, `has no field "${name}"${suggest(name, known)}`);
    if (!isClaudeFile(place.file)) throw mistake;
    place.file.notes.push(`${mistake.message}; it has no effect`);
  }
  const value = (name: string): unknown => (Object.hasOwn(given, name) ? given[name] : undefined);
  const expect = <T>(name: string, what: string, is: (found: unknown) => found is T): T | undefined => {
    const found = value(name);
    if (found === undefined || is(found)) return found;
    throw wrong(at(place, name), `must be ${what}`);
  };
  return {
    value,
    text: (name: string): string | undefined => expect(name, "a text", isText),
    flag: (name: string): boolean | undefined => expect(name, "true or false", (found) => typeof found === "boolean"),
    list: (name: string): string[] | undefined => expect(name, "a list of texts", isTextList),
    object: (name: string): JsonObject | undefined => expect(name, "an object", isJsonObject),
    texts: (name: string): Record<string, string> => expect(name, "an object of texts", isTextRecord) ?? {},
    positive: (name: string): number | undefined => expect(name, "a number above 0", isPositive),
    oneOf: <T extends string>(name: string, words: readonly T[]): T | undefined =>
      expect(name, `one of ${words.join(", ")}`, (found): found is T => (words as readonly unknown[]).includes(found)),
    needed(name: string): string {
      const found = expect(name, "a text", isText);
      if (found === undefined || found.trim() === "") throw wrong(place, `needs "${name}"`);
      return found;
    },
  };
}

function list(value: unknown, place: Place): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(place, "must be a list");
  return value;
}

function at({ file, path }: Place, step: string | number): Place {
  return { file, path: [...path, step] };
}

function wrong({ file, path }: Place, what: string, options: { hint?: string } = {}): RuntimeError {
  const line = file.lineOf?.(path);
  const name = path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .slice(1);
  return new RuntimeError("config", `${file.source}${line === undefined ? "" : `:${line}`}: ${name} ${what}`, options);
}

function suggest(name: string, known: readonly string[]): string {
  const guess = nearest(name, known);
  return guess ? `; did you mean "${guess}"?` : `; expected one of ${known.join(", ")}`;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isPositive(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

function isTextRecord(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every(isText);
}
