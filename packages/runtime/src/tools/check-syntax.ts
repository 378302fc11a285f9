import { basename, extname } from "node:path";
import { messageOf } from "../util/message-of.ts";

/** A syntax error that a change brought into a file, for the model; empty where there is none, or none can be told. */
export async function noteSyntax(path: string, text: string, before?: string): Promise<string> {
  const check = checkFor(path, text);
  if (!check || text.trim() === "" || text.length > longestText) return "";
  const problem = await check(text).catch(() => undefined); // the file is written: what goes wrong here is not to look like a failed change
  if (problem === undefined) return "";
  // What could not be read before may be a dialect: comments in JSON, templates in YAML.
  if (before !== undefined && before.trim() !== "" && (await check(before)) !== undefined) return "";
  return `[${basename(path)} has a syntax error now: ${problem.slice(0, 300)}]`;
}

const longestText = 1024 * 1024;

type Check = (text: string) => Promise<string | undefined>;

function checkFor(path: string, text: string): Check | undefined {
  switch (extname(path).toLowerCase()) {
    case ".json":
      return /^\s*(?:\/\/|\/\*)/m.test(text) || isCommented.test(basename(path)) ? undefined : checkJson;
    case ".ipynb":
      return checkJson;
    case ".yaml":
    case ".yml":
      return /\{\{|\{%/.test(text) ? undefined : checkYaml;
    case ".sh":
    case ".bash":
      return checkShell;
    case ".cjs":
      return checkCommonJs;
    case ".js":
      return checkEitherScript;
    case ".mjs":
      return checkModule;
    case ".ts":
    case ".mts":
    case ".cts":
      return checkScript;
    default:
      return /^#!\s*\/(?:usr\/)?bin\/(?:env )?(?:ba)?sh\b/.test(text) ? checkShell : undefined;
  }
}

/** Whose readers take comments and commas at the end. */
const isCommented = /^(?:[jt]sconfig.*|\..*rc|devcontainer|settings|launch|tasks|extensions|deno|biome|turbo)\.json$/;

async function checkJson(text: string): Promise<string | undefined> {
  try {
    JSON.parse(text.replace(/^\uFEFF/, ""));
    return undefined;
  } catch (error) {
    const message = messageOf(error);
    const position = /position (\d+)/.exec(message)?.[1];
    const line =
      position === undefined || /line \d/.test(message) ? undefined : text.slice(0, Number(position)).split("\n").length;
    return line === undefined ? message : `${message} (line ${line})`;
  }
}

async function checkYaml(text: string): Promise<string | undefined> {
  const { parseAllDocuments } = await import("../util/yaml.ts");
  const documents = parseAllDocuments(text, { logLevel: "silent" });
  for (const { errors } of Array.isArray(documents) ? documents : []) if (errors[0]) return errors[0].message.split("\n")[0];
  return undefined;
}

async function checkShell(text: string): Promise<string | undefined> {
  const { parse } = await import("unbash");
  const [error] = parse(text).errors ?? [];
  return error && `${error.message} (line ${text.slice(0, error.pos).split("\n").length})`;
}

async function checkCommonJs(text: string): Promise<string | undefined> {
  const { compileFunction } = process.getBuiltinModule("node:vm");
  try {
    compileFunction(text.replace(/^#!.*/, ""), ["exports", "require", "module", "__filename", "__dirname"]); // parsed, and never called
    return undefined;
  } catch (error) {
    const line = /^[^\n]*:(\d+)\n/.exec(error instanceof Error ? (error.stack ?? "") : "")?.[1];
    return `${messageOf(error)}${line === undefined ? "" : ` (line ${line})`}`;
  }
}

/** A script or a module: which of them, the file alone does not say. */
async function checkEitherScript(text: string): Promise<string | undefined> {
  const asScript = await checkCommonJs(text);
  const asModule = asScript === undefined ? undefined : await checkModule(text);
  if (asModule === undefined || isDialect.test(asModule)) return undefined;
  return /^\s*(?:import|export)\b/m.test(text) ? asModule : asScript;
}

/** Elements in a script: another program makes JavaScript of it. */
const isDialect = /^Unexpected token '<'/;

async function checkModule(text: string): Promise<string | undefined> {
  if ("stripTypeScriptTypes" in process.getBuiltinModule("node:module")) return await checkScript(text);
  const { findModuleError } = await import("./module-syntax.ts");
  return await findModuleError(text);
}

type StripTypes = (code: string, options?: { readonly mode: "strip" }) => string;

/** By the parser that newer versions of Node bring; older ones have none. */
async function checkScript(text: string): Promise<string | undefined> {
  const { stripTypeScriptTypes: strip } = process.getBuiltinModule("node:module") as unknown as {
    readonly stripTypeScriptTypes?: StripTypes; // the types are those of the oldest version
  };
  if (!strip) return undefined;
  const { emitWarning } = process;
  process.emitWarning = () => {}; // that the parser is experimental is no news for anybody here
  try {
    strip(text.replace(/^#!.*/, ""), { mode: "strip" });
    return undefined;
  } catch (error) {
    const isSyntax = error instanceof Error && "code" in error && error.code === "ERR_INVALID_TYPESCRIPT_SYNTAX";
    if (!isSyntax) return undefined;
    const line: unknown = Reflect.get(error, "startLine");
    return `${messageOf(error).split("\n")[0]}${typeof line === "number" ? ` (line ${line})` : ""}`;
  } finally {
    process.emitWarning = emitWarning;
  }
}
