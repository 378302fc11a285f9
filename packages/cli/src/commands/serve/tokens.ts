import { realpathSync } from "node:fs";
import { RuntimeError } from "@outrider/runtime";
import { outriderHome } from "@outrider/runtime/host";
import { type Scope, scopes, serverFolder, type TokenRecord, TokenStore } from "@outrider/runtime/server";
import { exitCodes } from "../../exit-codes.ts";
import { duration, positiveInteger } from "../../flags/numbers.ts";
import { type OwnWords, takeOwnWords } from "../../flags/words.ts";
import { print, visible } from "../../terminal/visible.ts";

const usage = `Usage:
  outrider serve token add NAME --scope SCOPE[,SCOPE…] [--root DIR]… [--expires TIME] [--of NAME]… [--session ID]…
                                [--max-sessions N] [--max-prompts N] [--max-requests N]
                                     create a token for someone else; it is printed once and works at once
  outrider serve token list [--json] list the tokens
  outrider serve token remove NAME   revoke one
  outrider serve token path          show where your own is kept

Scopes: view, drive (start sessions, send prompts), approve (answer permission questions), admin (everything, for all sessions).
drive and approve include view. A token sees the sessions that were started with it. --of: also those started with the token of
this name (owner is yours); --session: only this one. --root: its sessions work there and below. --max-prompts: how many may run at once; --max-requests: per minute.
`;

/** `outrider serve token`. */
export async function runTokens(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, {
    switches: ["--json", "--help", "-h"],
    values: ["--scope", "--root", "--expires", "--of", "--session", "--max-sessions", "--max-prompts", "--max-requests"],
  });
  const [action = "list", name, ...more] = words.rest;
  const store = new TokenStore(serverFolder(outriderHome(process.env)));
  if (words.has("--help") || words.has("-h")) await print(usage);
  else if (more.length > 0) throw new RuntimeError("usage", `serve token does not take ${more[0]}\n${usage}`);
  else if (action === "list" && name === undefined) await print(listed(store.records, words.has("--json")));
  else if (action === "path" && name === undefined) await print(`${store.tokenPath}\n`);
  else if (action === "remove" && name !== undefined) {
    if (!store.remove(name)) throw new RuntimeError("not-found", `There is no token named ${name}`);
    await print(`Removed ${visible(name)}\n`);
  } else if (action === "add" && name !== undefined) await print(`${add(store, name, words)}\n`);
  else throw new RuntimeError("usage", usage);
  return exitCodes.success;
}

function add(store: TokenStore, name: string, words: OwnWords): string {
  if (!/^[\w.-]{1,64}$/.test(name))
    throw new RuntimeError("usage", "The name of a token has letters, digits, dots and dashes, 64 at most");
  const wanted = words.values("--scope").flatMap((text) => text.split(","));
  if (wanted.length === 0) throw new RuntimeError("usage", `--scope says what it is for: ${scopes.join(", ")}`);
  const own = wanted.map((text) => {
    const scope = scopes.find((known) => known === text);
    if (!scope) throw new RuntimeError("usage", `There is no scope ${text}; there are ${scopes.join(", ")}`);
    return scope;
  });
  const number = (flag: string): number | undefined => {
    const text = words.value(flag);
    return text === undefined ? undefined : positiveInteger(flag, text);
  };
  const roots = words.values("--root");
  const [of, sessions] = [words.values("--of"), words.values("--session")];
  if (of.length > 0 && sessions.length > 0) throw new RuntimeError("usage", "--of and --session do not go together");
  if (of.length + sessions.length === 0 && !own.some((scope) => scope === "drive" || scope === "admin"))
    throw new RuntimeError("usage", "Who can only look or approve begins no sessions, and sees none then", {
      hint: "Say whose: --of NAME (owner is you), or --session ID",
    });
  return store.add({
    name,
    scopes: [...new Set<Scope>(own)],
    of: of.length > 0 ? of : undefined,
    sessions: sessions.length > 0 ? sessions : undefined,
    roots: roots.length > 0 ? roots.map(realFolder) : undefined,
    expiresAt: expiry(words.value("--expires")),
    limits: { sessions: number("--max-sessions"), prompts: number("--max-prompts"), requestsPerMinute: number("--max-requests") },
  });
}

/** `7d` beside the usual times. */
function expiry(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const days = /^(\d{1,4})d$/.exec(text)?.[1];
  const ms = days === undefined ? duration("--expires", text) : Number(days) * 24 * 60 * 60 * 1000;
  return new Date(Date.now() + ms).toISOString();
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    throw new RuntimeError("usage", `--root ${path} is no folder`);
  }
}

function listed(records: readonly TokenRecord[], asJson: boolean): string {
  if (asJson)
    return `${JSON.stringify(
      records.map(({ sha256: _, ...shown }) => shown),
      null,
      2,
    )}\n`;
  if (records.length === 0) return "There are no tokens but your own\n";
  return records
    .map(({ name, scopes: own, expiresAt, roots = [], of = [], sessions = [] }) =>
      [name, own.join(","), expiresAt && `until ${expiresAt}`, of.length > 0 && `of ${of.join(",")}`, ...sessions, ...roots]
        .filter(Boolean)
        .map((word) => visible(String(word)))
        .join("  "),
    )
    .map((line) => `${line}\n`)
    .join("");
}
