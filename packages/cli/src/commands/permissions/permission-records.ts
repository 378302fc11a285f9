import { join } from "node:path";
import { RuntimeError } from "@outrider/runtime";
import { createGrants, outriderHome } from "@outrider/runtime/host";
import { type AuditRecord, readAuditLog } from "@outrider/runtime/admin";
import { exitCodes } from "../../exit-codes.ts";
import { lookAtProject } from "../../request/project.ts";
import { print, visible } from "../../terminal/visible.ts";
import { parseOwnWords } from "../../flags/words.ts";

const seeHelp = "See outrider permissions --help";

/** What was decided in past runs, oldest first. */
export async function showLog(args: readonly string[]): Promise<number> {
  const words = parseOwnWords(args, {
    command: "permissions log",
    usage: seeHelp,
    switches: ["--denied", "--json"],
    values: ["--session", "--since"],
  });
  const sessionId = words.value("--session");
  const since = words.value("--since");
  const query = {
    directory: join(outriderHome(process.env), "audit"),
    denied: words.has("--denied"),
    sessionId,
    since: since === undefined ? undefined : toDate(since),
  };
  let gone = false;
  process.stdout.once("error", () => {
    gone = true; // nobody reads any more
  });
  const skip = (place: string): void => void process.stderr.write(`outrider: ${place} is no record and was skipped\n`);
  for await (const record of readAuditLog(query, skip)) {
    if (gone) break;
    await print(words.has("--json") ? `${JSON.stringify(record)}\n` : describe(record));
  }
  return exitCodes.success;
}

function toDate(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime()))
    throw new RuntimeError(
      "usage",
      `--since cannot be ${JSON.stringify(text)}. Write a date, like 2025-06-01 or 2025-06-01T12:00:00Z`,
    );
  return date;
}

function describe({ at, sessionId, tool, resource, effect, by, reason, rule, source }: AuditRecord): string {
  const what = resource === "" ? tool : `${tool}(${resource})`;
  const origin = rule === undefined ? by : `${by} ${rule}${source === undefined ? "" : ` in ${source}`}`;
  return `${visible(`${at} ${effect.padEnd(5)} ${what}  ${reason} [${origin}] ${sessionId}`)}\n`;
}

/** Answers that are remembered for the project. */
export async function showGrants(args: readonly string[]): Promise<number> {
  const words = parseOwnWords(args, {
    command: "permissions grants",
    usage: seeHelp,
    switches: ["--forget", "--json"],
    values: ["--cwd"],
  });
  const { root, home, outriderHome: place } = await lookAtProject({ cwd: words.value("--cwd"), settingSources: "" });
  const grants = createGrants({ root, directory: join(place, "grants"), home });
  const rules = grants
    .rules()
    .map(({ text, exactly }) => ({ rule: text, ...(exactly?.cwd !== undefined && { cwd: exactly.cwd }) }));
  if (words.has("--forget")) grants.forget();
  if (words.has("--json")) await print(`${JSON.stringify(rules, null, 2)}\n`);
  else {
    const lines = rules.map(
      ({ rule, cwd }) => `${visible(`${rule}${cwd === undefined || cwd === root ? "" : `  in ${cwd}`}`)}\n`,
    );
    const none = `No answer is remembered for ${visible(root)}\n`;
    await print(lines.length === 0 ? none : `${words.has("--forget") ? "Forgotten:\n" : ""}${lines.join("")}`);
  }
  return exitCodes.success;
}
