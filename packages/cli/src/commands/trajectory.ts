import { existsSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createFileStore, RuntimeError } from "@outrider/runtime";
import {
  type AtifVersion,
  loadCallPrice,
  readTrajectoryJson,
  stemOf,
  toTrajectoryDocument,
  type TrajectoryDocument,
  type TrajectoryProblem,
  type Validation,
  type ValidationOptions,
  validateTrajectory,
  writeDocument,
} from "@outrider/runtime/atif";
import { loadCatalogOverride, nearest, outriderHome } from "@outrider/runtime/host";
import { exitCodes } from "../exit-codes.ts";
import { findSession } from "../request/find-session.ts";
import { print, visible } from "../terminal/visible.ts";
import { type OwnWords, takeOwnWords } from "../flags/words.ts";

const usage = `Usage:
  outrider trajectory export SESSION [--atif-version 1.4|1.7|1.8] [--output FILE] [--force]
                                          export a session as an ATIF trajectory, to stdout or to FILE with its pictures beside it
  outrider trajectory export SESSION --format otlp [--output FILE] [--force]
                                          export it as OpenTelemetry traces, in the JSON that a collector's /v1/traces accepts
  outrider trajectory validate FILE|-… [--harbor] [--atif-version V] [--no-files] [--json]
                                          find all mistakes in trajectories, with their paths; exit code 1 if there are any
                                          --harbor: accept what Harbor accepts, instead of the strict rules
`;

const flags = {
  switches: ["--help", "-h", "--force", "--harbor", "--no-files", "--json"],
  values: ["--atif-version", "--format", "--output", "-o"],
};

const actions: Readonly<Record<string, (names: readonly string[], words: OwnWords) => Promise<number>>> = {
  export: exportTrajectory,
  validate,
};

/** Trajectories in the format that benchmarks and viewers exchange. */
export async function runTrajectory(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, flags);
  if (args.length === 0 || words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const flag = words.rest.find((word) => word.startsWith("-") && word !== "-");
  if (flag !== undefined) throw misuse(`trajectory has no flag ${flag}`, nearest(flag, [...flags.switches, ...flags.values]));
  const [name = "", ...names] = words.rest;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action) throw misuse(`trajectory has no action ${JSON.stringify(name)}`, nearest(name, Object.keys(actions)));
  return await action(names, words);
}

async function exportTrajectory(names: readonly string[], words: OwnWords): Promise<number> {
  const [word] = names;
  if (word === undefined || names.length > 1)
    throw misuse("trajectory export takes one session: outrider sessions list shows them");
  const version = toVersion(words.value("--atif-version"));
  const home = outriderHome(process.env);
  const store = createFileStore(join(home, "sessions"));
  const id = await findSession(store, word);
  const output = words.value("--output") ?? words.value("-o");
  const events = await store.read(id);
  const priceOf = await loadCallPrice(await loadCatalogOverride(home));
  const format = words.value("--format") ?? "atif";
  if (format !== "atif" && format !== "otlp") throw misuse(`--format is atif or otlp, not ${JSON.stringify(format)}`);
  if (format === "otlp" && version !== undefined) throw misuse("--atif-version is about --format atif");
  if (format === "otlp") {
    const { exportTrace } = await import("@outrider/runtime/admin");
    const text = `${JSON.stringify(exportTrace(events, { env: process.env, priceOf }))}\n`;
    return output === undefined || output === "-" ? await printText(text) : writeTo(output, text, words.has("--force"));
  }
  const document = toTrajectoryDocument(events, {
    version,
    priceOf,
    ...(output !== undefined && { stem: stemOf(output) }),
  });
  if (!document) throw new RuntimeError("no-input", `Nothing has happened in session ${id} yet`);
  return output === undefined || output === "-" ? await printDocument(document) : writeTo(output, document, words.has("--force"));
}

async function printText(text: string): Promise<number> {
  await print(text);
  return exitCodes.success;
}

async function printDocument({ trajectory, media }: TrajectoryDocument): Promise<number> {
  await print(`${JSON.stringify(trajectory, null, 2)}\n`);
  if (media.size > 0) process.stderr.write(`outrider: ${media.size} pictures it names are written with --output FILE only\n`);
  return exitCodes.success;
}

function writeTo(path: string, document: TrajectoryDocument | string, force: boolean): number {
  if (existsSync(path) && !force) throw new RuntimeError("usage", `${path} exists already`, { hint: "--force overwrites it" });
  try {
    if (typeof document === "string") writeFileSync(path, document);
    else writeDocument(resolve(path), document);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RuntimeError("storage-failed", `Cannot write ${path}: ${reason}`, { hint: "Choose another --output" });
  }
  process.stderr.write(`Written to ${visible(path)}\n`);
  return exitCodes.success;
}

function toVersion(text: string | undefined): AtifVersion | undefined {
  if (text === undefined || text === "1.4" || text === "1.7" || text === "1.8") return text;
  throw misuse(`--atif-version cannot be ${JSON.stringify(text)}: choose 1.4, 1.7 or 1.8`);
}

async function validate(names: readonly string[], words: OwnWords): Promise<number> {
  if (names.length === 0) throw misuse("trajectory validate takes at least one file");
  const version = words.value("--atif-version");
  if (version !== undefined && !/^1\.[0-8]$/.test(version))
    throw misuse(`--atif-version is 1.0 to 1.8, not ${JSON.stringify(version)}`);
  let isValid = true;
  for (const name of names) {
    const folder = name === "-" ? "." : dirname(resolve(name));
    const judged = judge(name, {
      mode: words.has("--harbor") ? "harbor" : "strict",
      version,
      ...(!words.has("--no-files") && { exists: (path: string) => existsSync(resolve(folder, path)) }),
    });
    isValid &&= judged.ok;
    await print(words.has("--json") ? `${JSON.stringify({ file: name, ...judged })}\n` : describe(name, judged));
  }
  return isValid ? exitCodes.success : exitCodes.error;
}

type Judged = Omit<Validation, "version"> & { readonly version?: string };

/** One file that is no JSON must not keep the others from being looked at; one that is not there is a mistake of the caller's. */
function judge(name: string, options: ValidationOptions): Judged {
  try {
    return validateTrajectory(readTrajectoryJson(name === "-" ? "/dev/stdin" : name), options);
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== "config") throw error;
    return { ok: false, problems: [{ path: "trajectory", rule: "json", message: error.message }], warnings: [] };
  }
}

function describe(name: string, { ok, version, problems, warnings }: Judged): string {
  const count = `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`;
  const as = version === undefined ? "" : ` as ATIF-v${version}`;
  const verdict = ok ? `valid ATIF-v${version}` : `not valid${as}: ${count}`;
  const lines = [
    `${name}: ${verdict}`,
    ...problems.map((problem) => `  ${toLine(problem)}`),
    ...warnings.map((problem) => `  warning: ${toLine(problem)}`),
  ];
  return lines.map((line) => `${visible(line)}\n`).join("");
}

function toLine({ path, rule, message }: TrajectoryProblem): string {
  return `${path}: ${message} [${rule}]`;
}

function misuse(message: string, guess?: string): RuntimeError {
  return new RuntimeError("usage", `${message}${guess === undefined ? "" : `; did you mean ${guess}?`}\n${usage}`);
}
