import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import { isJsonObject } from "../../../protocol/content.ts";
import { makeFolder } from "../../../util/make-folder.ts";
import { replaceFile } from "../../../util/replace-file.ts";
import { shortChecksum } from "../../../util/short-checksum.ts";

/** What one authorization server has given us: what we are called there, and tokens for the MCP servers that trust it. */
export type IssuerFile = {
  readonly issuer: string;
  readonly client?: StoredOAuthClientInformation | undefined;
  /** By the address of the MCP server. A token is for one of them and is sent to no other. */
  readonly servers: Readonly<Record<string, { readonly tokens: StoredOAuthTokens; readonly savedAt: string }>>;
};

/** Logins of the user, one file for each authorization server, which only the user may read. */
export class LoginStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async load(issuer: string): Promise<IssuerFile> {
    return (await this.#read(this.#pathOf(issuer))) ?? { issuer, servers: {} };
  }

  /** The login for a server, whoever has issued it; the newest when there are several. */
  async find(serverUrl: string): Promise<{ issuer: string; tokens: StoredOAuthTokens } | undefined> {
    const found = (await this.#all()).flatMap(({ issuer, servers }) => {
      const login = servers[serverUrl];
      return login ? [{ issuer, ...login }] : [];
    });
    return found.sort((one, other) => other.savedAt.localeCompare(one.savedAt))[0];
  }

  async saveClient(issuer: string, client: StoredOAuthClientInformation | undefined): Promise<void> {
    await this.#save({ ...(await this.load(issuer)), client });
  }

  async saveTokens(issuer: string, serverUrl: string, tokens: StoredOAuthTokens): Promise<void> {
    const file = await this.load(issuer);
    await this.#save({ ...file, servers: { ...file.servers, [serverUrl]: { tokens, savedAt: new Date().toISOString() } } });
  }

  /** Forgets the tokens for a server, which are good no more; what we are called at the issuer stays. */
  async forget(serverUrl: string): Promise<void> {
    for (const { servers, ...file } of await this.#all()) {
      const { [serverUrl]: old, ...others } = servers;
      if (old) await this.#save({ ...file, servers: others });
    }
  }

  /** Forgets all that there is for a server alone; false when there was nothing. */
  async remove(serverUrl: string): Promise<boolean> {
    const files = (await this.#all()).filter(({ servers }) => Object.hasOwn(servers, serverUrl));
    for (const { servers, ...file } of files) {
      const { [serverUrl]: _, ...others } = servers;
      if (Object.keys(others).length === 0) await rm(this.#pathOf(file.issuer), { force: true });
      else await this.#save({ ...file, servers: others });
    }
    return files.length > 0;
  }

  async #save(file: IssuerFile): Promise<void> {
    makeFolder(this.#folder);
    await replaceFile(this.#pathOf(file.issuer), `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, isLasting: true });
  }

  async #all(): Promise<IssuerFile[]> {
    const names = await readdir(this.#folder).catch(() => []); // there is none before the first login
    const files = await Promise.all(
      names.filter((name) => name.endsWith(".json")).map((name) => this.#read(join(this.#folder, name))),
    );
    return files.filter((file) => file !== undefined);
  }

  /** A file that cannot be read is like none: somebody has to log in again. */
  async #read(path: string): Promise<IssuerFile | undefined> {
    try {
      const value: unknown = JSON.parse(await readFile(path, "utf8"));
      if (!isJsonObject(value) || typeof value["issuer"] !== "string" || !isJsonObject(value["servers"])) return undefined;
      return value as unknown as IssuerFile; // we have written it, and only the user could have changed it
    } catch {
      return undefined;
    }
  }

  #pathOf(issuer: string): string {
    const { host = "issuer" } = URL.canParse(issuer) ? new URL(issuer) : {};
    return join(this.#folder, `${host.replace(/[^A-Za-z0-9.-]/g, "_")}-${shortChecksum(issuer)}.json`);
  }
}
