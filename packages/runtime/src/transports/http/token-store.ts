import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../util/make-folder.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { isRecord } from "../../util/is-record.ts";
import { replaceFileSync } from "../../util/replace-file.ts";
import { type Client, type ClientLimits, type Scope, scopes } from "./client.ts";

/** A token as it is kept: nobody can make the token itself of it. */
export type TokenRecord = {
  readonly name: string;
  readonly sha256: string;
  readonly scopes: readonly Scope[];
  readonly roots?: readonly string[] | undefined;
  readonly sessions?: readonly string[] | undefined;
  /** Names of tokens whose sessions it sees beside its own. */
  readonly of?: readonly string[] | undefined;
  readonly limits?: ClientLimits | undefined;
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
  /** The digest of the token it was made with: it counts as long as that one does. */
  readonly by?: string | undefined;
};

export type NewToken = Omit<TokenRecord, "sha256" | "createdAt">;

/** The name of whoever started the server; its token is found by the command and the library. */
const ownerName = "owner";

/** 256 bits: nobody guesses it. */
const tokenBytes = 32;

/**
 * Who may come in. The owner's token is in a file that only the user can read, so that programs of the user find it; of all others only a
 * digest is kept. Files are read again when they change: a token that is added or taken away counts at once.
 */
export class TokenStore {
  readonly #folder: string;
  readonly #now: () => number;

  constructor(folder: string, now: () => number = Date.now) {
    this.#folder = folder;
    this.#now = now;
  }

  /** Where tokens and what belongs to them are kept. */
  get folder(): string {
    return this.#folder;
  }

  get tokenPath(): string {
    return join(this.#folder, "token");
  }

  /** The owner's token; `isNew` when there was none yet. */
  openOwner(): { readonly token: string; readonly isNew: boolean } {
    const known = readToken(this.tokenPath);
    if (known !== undefined) return { token: known, isNew: false };
    makeFolder(this.#folder);
    const token = newToken();
    replaceFileSync(this.tokenPath, `${token}\n`, { isLasting: true });
    return { token, isNew: true };
  }

  /** Answers the token, which is not kept anywhere: it is shown once. */
  add(made: NewToken): string {
    const { records } = this;
    if (made.name === ownerName || records.some(({ name }) => name === made.name))
      throw new RuntimeError("usage", `There is a token named ${made.name} already`);
    const token = newToken();
    const record = { ...made, sha256: digest(token).toString("hex"), createdAt: new Date(this.#now()).toISOString() };
    this.#write([...records, record]);
    return token;
  }

  /** False when there is none of this name. */
  remove(name: string): boolean {
    const { records } = this;
    const kept = records.filter((record) => record.name !== name);
    if (kept.length === records.length) return false;
    this.#write(kept);
    return true;
  }

  /** All but the owner's, without those that have expired. */
  get records(): readonly TokenRecord[] {
    const living = readRecords(this.#recordsPath).filter(({ expiresAt }) => !this.#isOver(expiresAt));
    if (living.every(({ by }) => by === undefined)) return living;
    const owner = readToken(this.tokenPath);
    const makers = new Set(living.map(({ sha256 }) => sha256));
    if (owner !== undefined) makers.add(digest(owner).toString("hex"));
    return living.filter(({ by }) => by === undefined || makers.has(by));
  }

  /** Whose token this is. Takes as long for a wrong one as for a right one. */
  find(token: string): Client | undefined {
    return this.#findDigest(digest(token));
  }

  /** The same, for whoever has kept only the digest of a token. */
  findDigest(sha256: string): Client | undefined {
    return this.#findDigest(Buffer.from(sha256, "hex"));
  }

  #findDigest(given: Buffer): Client | undefined {
    const { timingSafeEqual } = process.getBuiltinModule("node:crypto");
    let found: Client | undefined;
    for (const client of this.#clients()) if (timingSafeEqual(given, Buffer.from(client.digest, "hex"))) found = client;
    return found;
  }

  /** Those whose tokens count now, by digest. */
  current(): ReadonlyMap<string, Client> {
    return new Map(this.#clients().map((client) => [client.digest, client]));
  }

  #clients(): Client[] {
    const owner = readToken(this.tokenPath);
    const own = owner === undefined ? [] : [toOwner(digest(owner).toString("hex"))];
    return [...own, ...this.records.map(toClient)];
  }

  get #recordsPath(): string {
    return join(this.#folder, "tokens.json");
  }

  #isOver(expiresAt: string | undefined): boolean {
    return expiresAt !== undefined && Date.parse(expiresAt) <= this.#now();
  }

  #write(tokens: readonly TokenRecord[]): void {
    makeFolder(this.#folder);
    replaceFileSync(this.#recordsPath, `${JSON.stringify({ tokens }, null, 2)}\n`, { isLasting: true });
  }
}

function toOwner(ownDigest: string): Client {
  return { name: ownerName, digest: ownDigest, scopes: new Set<Scope>(["admin"]), limits: {} };
}

function toClient({ name, sha256, scopes: own, roots, sessions, of, limits = {} }: TokenRecord): Client {
  return { name, digest: sha256, scopes: new Set(own), roots, sessions, of, limits };
}

function newToken(): string {
  return process.getBuiltinModule("node:crypto").randomBytes(tokenBytes).toString("base64url");
}

function digest(token: string): Buffer {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(token).digest();
}

function readToken(path: string): string | undefined {
  const token = readIfThere(path)?.trim();
  if (token !== undefined && token.length < leastLength)
    throw new RuntimeError("config", `${path} holds no token of at least ${leastLength} characters`, {
      hint: "Remove the file: the next outrider serve makes a new one",
    });
  return token;
}

/** 128 bits in base64url. */
const leastLength = 22;

function readRecords(path: string): TokenRecord[] {
  const text = readIfThere(path);
  if (text === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new RuntimeError("config", `${path} is no JSON`, { cause: error });
  }
  const tokens = isRecord(value) ? value["tokens"] : undefined;
  if (!Array.isArray(tokens) || !tokens.every(isTokenRecord))
    throw new RuntimeError("config", `${path} is no list of tokens as outrider serve token writes it`);
  return tokens;
}

function isTokenRecord(value: unknown): value is TokenRecord {
  if (!isRecord(value)) return false;
  const { name, sha256, scopes: own, roots, sessions, of, by, expiresAt } = value;
  const isTexts = (list: unknown): boolean => Array.isArray(list) && list.every((item) => typeof item === "string");
  return (
    typeof name === "string" &&
    typeof sha256 === "string" &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    Array.isArray(own) &&
    own.every((scope) => (scopes as readonly unknown[]).includes(scope)) &&
    (roots === undefined || isTexts(roots)) &&
    (sessions === undefined || isTexts(sessions)) &&
    (of === undefined || isTexts(of)) &&
    (by === undefined || typeof by === "string") &&
    (expiresAt === undefined || (typeof expiresAt === "string" && !Number.isNaN(Date.parse(expiresAt))))
  );
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new RuntimeError("config", `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
