import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { makeFolder } from "../../../util/make-folder.ts";
import { isRecord } from "../../../util/is-record.ts";
import { replaceFileSync } from "../../../util/replace-file.ts";
import type { Client } from "../client.ts";
import { isOwnOrigin } from "../gatekeeper.ts";
import { HttpProblem } from "../problem.ts";
import type { TokenStore } from "../token-store.ts";

/** A browser that was let in with a token. Neither half of what it holds can be made of this, nor the token. */
type PageLogin = {
  readonly id: string;
  readonly cookieSha256: string;
  readonly keySha256: string;
  readonly tokenSha256: string;
  readonly expiresAt: string;
};

export type OpenedLogin = { readonly key: string; readonly setCookie: string; readonly expiresAt: string };

const pageHeader = "outrider-page";
const lifetimeMs = 7 * 24 * 60 * 60_000;
const mostLogins = 1_000;

/**
 * Browsers that showed their token once. Each holds two halves: a cookie, which no script can read, and a key, which no other site and no
 * other port of this machine can read. Only both together count, and only as long as the token does. They outlive the process.
 */
export class PageLogins {
  readonly #path: string;
  readonly #tokens: TokenStore;
  readonly #now: () => number;
  #logins: PageLogin[] | undefined;

  constructor(tokens: TokenStore, now: () => number = Date.now) {
    this.#path = join(tokens.folder, "page-logins.json");
    this.#tokens = tokens;
    this.#now = now;
  }

  open(token: string, request: IncomingMessage): OpenedLogin {
    const { randomBytes } = process.getBuiltinModule("node:crypto");
    const [id, cookie, key] = [6, 32, 32].map((bytes) => randomBytes(bytes).toString("base64url")) as [string, string, string];
    const expiresAt = new Date(this.#now() + lifetimeMs).toISOString();
    const login = { id, cookieSha256: digest(cookie), keySha256: digest(key), tokenSha256: digest(token), expiresAt };
    this.#write([...this.#valid, login].slice(-mostLogins));
    return { key: `${id}.${key}`, setCookie: cookieLine(request, id, cookie, lifetimeMs / 1000), expiresAt };
  }

  /** Whose browser it is. Undefined where the request does not say that it comes from the page. */
  find(request: IncomingMessage): Client | undefined {
    if (request.headers[pageHeader] === undefined) return undefined;
    checkSameOrigin(request);
    const login = this.#loginOf(request);
    const client = login && this.#tokens.findDigest(login.tokenSha256);
    if (!client) throw new HttpProblem("unauthorized", "The page is not signed in any more");
    return client;
  }

  /** Answers the cookie that takes the old one away. */
  close(request: IncomingMessage): string | undefined {
    const login = this.#loginOf(request);
    if (!login) return undefined;
    this.#write(this.#valid.filter((other) => other !== login));
    return cookieLine(request, login.id, "", 0);
  }

  #loginOf(request: IncomingMessage): PageLogin | undefined {
    const [id = "", key = ""] = String(request.headers[pageHeader] ?? "").split(".");
    const cookie = cookieOf(request, id);
    const login = this.#valid.find((one) => one.id === id);
    if (!login || cookie === undefined) return undefined;
    return isSame(digest(cookie), login.cookieSha256) && isSame(digest(key), login.keySha256) ? login : undefined;
  }

  get #valid(): PageLogin[] {
    this.#logins ??= readLogins(this.#path);
    return this.#logins.filter(({ expiresAt }) => Date.parse(expiresAt) > this.#now());
  }

  #write(logins: PageLogin[]): void {
    this.#logins = logins;
    makeFolder(this.#tokens.folder);
    replaceFileSync(this.#path, `${JSON.stringify({ logins }, null, 2)}\n`, { isLasting: true });
  }
}

/** A cookie comes along with whatever any page asks for: it counts only for what our own page asks. */
function checkSameOrigin({ headers, method }: IncomingMessage): void {
  const { origin, host = "" } = headers;
  const site = headers["sec-fetch-site"];
  const isOwn = origin === undefined ? method === "GET" : isOwnOrigin(origin, host);
  if (!isOwn || (site !== undefined && site !== "same-origin"))
    throw new HttpProblem("forbidden", "Only the page of this server is let in by its cookie");
}

function cookieLine({ headers: { origin } }: IncomingMessage, id: string, value: string, maxAge: number): string {
  const secure = origin?.startsWith("https:") ? "; Secure" : "";
  return `outrider-${id}=${value}; Path=/v1; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure}`;
}

function cookieOf({ headers: { cookie = "" } }: IncomingMessage, id: string): string | undefined {
  const name = `outrider-${id}=`;
  const found = cookie.split(";").map((part) => part.trim());
  return found.find((part) => part.startsWith(name))?.slice(name.length);
}

function digest(text: string): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(text).digest("hex");
}

function isSame(one: string, other: string): boolean {
  return process.getBuiltinModule("node:crypto").timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

/** What cannot be read is nobody: whoever was in it signs in again. */
function readLogins(path: string): PageLogin[] {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isRecord(value) && Array.isArray(value["logins"]) ? value["logins"].filter(isLogin) : [];
  } catch {
    return [];
  }
}

function isLogin(value: unknown): value is PageLogin {
  if (!isRecord(value)) return false;
  const isDigest = (text: unknown): boolean => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);
  const { id, cookieSha256, keySha256, tokenSha256, expiresAt } = value;
  return (
    typeof id === "string" &&
    [cookieSha256, keySha256, tokenSha256].every(isDigest) &&
    !Number.isNaN(Date.parse(String(expiresAt)))
  );
}
