import { RuntimeError } from "@outrider/runtime";
import {
  nearest,
  outriderHome,
  type Provenance,
  type ResolvedSettings,
  resolveLayers,
  type SettingsLayer,
} from "@outrider/runtime/host";
import { exitCodes } from "../exit-codes.ts";
import { lookAtProject } from "../request/project.ts";

const usage = `Usage:
  outrider config [--explain [KEY]] [--json] [--cwd DIR] [--settings FILE|JSON] [--setting-sources LIST] [--trust-project]
                                          show the settings a run here would have; secrets are masked
    --explain [KEY]                       with every file and line that sets them, and whether it counts
    --json                                print one object for programs
`;

/** What the settings files add up to, and why. */
export async function runConfig(args: readonly string[]): Promise<number> {
  const asked = parseWords(args);
  if (asked.help) return await print(usage);
  const view = await look(asked);
  const shown = await view.resolved.explain(asked.key);
  for (const warning of view.resolved.warnings) process.stderr.write(`outrider: ${visible(warning)}\n`);
  if (asked.json) return await print(`${JSON.stringify(toJson(view, shown, asked), null, 2)}\n`);
  const lines = asked.explain ? shown.flatMap(explained) : shown.flatMap(plain);
  const head = asked.key === undefined ? filesOf(view) : [];
  const tail = asked.explain || asked.key !== undefined ? [] : ignoredLine(view);
  return await print([...head, ...lines, ...tail].map((line) => `${visible(line)}\n`).join(""));
}

type Asked = {
  readonly help: boolean;
  readonly json: boolean;
  readonly explain: boolean;
  readonly trustProject: boolean;
  readonly key: string | undefined;
  readonly values: ReadonlyMap<string, string>;
};

const switches = ["--explain", "--json", "--trust-project", "--help", "-h"];
const valued = ["--cwd", "--settings", "--setting-sources"];

function parseWords(args: readonly string[]): Asked {
  const values = new Map<string, string>();
  const given = new Set<string>();
  const keys: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? "";
    const [flag = "", inline] = word.split(/=(.*)/s);
    if (valued.includes(flag)) values.set(flag, inline ?? takeValue(flag, args[++index]));
    else if (switches.includes(flag) && (inline === undefined || flag === "--explain")) {
      given.add(flag);
      if (inline) keys.push(inline);
    } else if (word.startsWith("-")) throw unknownFlag(flag);
    else keys.push(word);
  }
  if (isClaudeChange(keys))
    throw new RuntimeError(
      "usage",
      `config changes nothing: settings are files, ${outriderHome(process.env)}/settings.json first`,
      {
        hint: "What holds, and which file says so: outrider config --explain",
      },
    );
  if (keys[0] === "list" || keys[0] === "get") keys.shift(); // as older releases of Claude Code have it
  if (keys.length > 1) throw new RuntimeError("usage", `config takes one key, not ${keys.length}\n${usage}`);
  return {
    help: given.has("--help") || given.has("-h"),
    json: given.has("--json"),
    explain: given.has("--explain"),
    trustProject: given.has("--trust-project"),
    key: keys[0],
    values,
  };
}

/** `claude config set KEY VALUE`, and its kin. */
function isClaudeChange([action = "", ...rest]: readonly string[]): boolean {
  return ["set", "add", "remove", "rm", "unset"].includes(action) && rest.length > 0;
}

function takeValue(flag: string, word: string | undefined): string {
  if (word !== undefined) return word;
  throw new RuntimeError("usage", `${flag} needs a value`);
}

function unknownFlag(flag: string): RuntimeError {
  const guess = nearest(flag, [...switches, ...valued]);
  return new RuntimeError("usage", `config has no flag ${flag}${guess ? `; did you mean ${guess}?` : ""}\n${usage}`);
}

type View = {
  readonly root: string;
  readonly layers: readonly SettingsLayer[];
  readonly trusted: boolean;
  readonly reason: string;
  readonly resolved: ResolvedSettings;
};

async function look({ values, trustProject }: Asked): Promise<View> {
  const { root, layers, trust } = await lookAtProject({
    cwd: values.get("--cwd"),
    settings: values.get("--settings"),
    settingSources: values.get("--setting-sources"),
    trustProject,
  });
  const { trusted, reason } = trust;
  return { root, layers, trusted, reason, resolved: await resolveLayers(layers, { trusted }) };
}

function toJson({ root, layers, trusted, reason, resolved }: View, shown: readonly Provenance[], { explain }: Asked): object {
  return {
    root,
    trusted,
    reason,
    files: layers.map(({ path, scope }) => ({ path, scope })),
    settings: Object.fromEntries(shown.flatMap(({ key, value }) => (value === undefined ? [] : [[key, value]]))),
    ...(explain && { explain: shown }),
    ignored: resolved.ignored,
    warnings: resolved.warnings,
  };
}

function filesOf({ layers, trusted, reason }: View): string[] {
  if (layers.length === 0) return ["There is no settings file."];
  const mark = (scope: string): string =>
    !trusted && (scope === "project" || scope === "local") ? `  (not trusted: ${reason})` : "";
  return ["Files, the lowest first:", ...layers.map(({ scope, path }) => `  ${scope.padEnd(8)}${path}${mark(scope)}`), ""];
}

function plain({ key, value }: Provenance): string[] {
  return value === undefined ? [] : [`${key} = ${JSON.stringify(value)}`];
}

function explained({ key, value, from }: Provenance): string[] {
  const what = value === undefined ? "not set" : JSON.stringify(value);
  const entries = from.map(({ path, line, scope, value: said, verdict, why }) => {
    const place = line === undefined ? path : `${path}:${line}`;
    return `  ${verdict.padEnd(11)}${scope.padEnd(8)}${place}  ${JSON.stringify(said)}${why ? `  (${why})` : ""}`;
  });
  return [`${key} = ${what}${from.length === 0 && value !== undefined ? "  (default)" : ""}`, ...entries];
}

function ignoredLine({ resolved }: View): string[] {
  const count = resolved.ignored.length;
  if (count === 0) return [];
  const keys = [...new Set(resolved.ignored.map(({ key }) => key.split(".").slice(0, 2).join(".")))].join(", ");
  return [
    "",
    `Of the project's files ${count === 1 ? "this does" : "these do"} not count: ${keys}. Why: outrider config --explain`,
  ];
}

/** Names and values come from files nobody vouches for: what could rewrite a terminal is shown as it is written. */
function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

async function print(text: string): Promise<number> {
  await new Promise<void>((done) => {
    process.stdout.once("error", () => done()); // nobody reads any more
    process.stdout.write(text, () => done());
  });
  return exitCodes.success;
}
