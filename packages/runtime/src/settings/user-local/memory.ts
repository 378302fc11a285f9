import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { JsonValue } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { isRecord } from "../../util/is-record.ts";
import { makeFolder } from "../../util/make-folder.ts";
import { replaceFile } from "../../util/replace-file.ts";
import { checkUserLocalRoot, type UserLocalPlace } from "./storage.ts";

export const userLocalMemoryCategories = [
  "view-preference",
  "last-visible-cwd",
  "background-selection",
  "task-association",
  "display-preference",
  "inspection-choice",
] as const;
export type UserLocalMemoryCategory = (typeof userLocalMemoryCategories)[number];

/** Something a program with a screen remembers for the user: it says how things are shown, and makes nothing run. */
export type UserLocalMemoryItem = {
  readonly category: UserLocalMemoryCategory;
  readonly key: string;
  readonly summary: string;
  readonly value: JsonValue;
  readonly source: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly enabled: boolean;
};

export type UserLocalMemoryProjection = Omit<UserLocalMemoryItem, "value"> & {
  readonly valueSummary: string;
  readonly scope: "user";
  readonly location: string;
  readonly displayRule: "display-and-navigation-only";
  readonly canDisable: boolean;
  readonly canDelete: true;
  readonly commandExecutionEffect: "none";
};

export type UserLocalMemoryOptions = UserLocalPlace & { readonly now?: (() => number) | undefined };

export type NewUserLocalMemory = {
  readonly category: string;
  readonly key: string;
  readonly value: JsonValue;
  readonly summary?: string | undefined;
  readonly source?: string | undefined;
};

const maxValue = 16 * 1024;

/** One file for each item, for the user alone. */
export class UserLocalMemory {
  readonly #options: UserLocalMemoryOptions;

  constructor(options: UserLocalMemoryOptions) {
    this.#options = options;
  }

  async set({
    category: word,
    key,
    value,
    summary = "",
    source = "user",
  }: NewUserLocalMemory): Promise<UserLocalMemoryProjection> {
    const category = checkCategory(word);
    if (JSON.stringify(value).length > maxValue) throw new RuntimeError("usage", `A value may have ${maxValue} characters`);
    const now = new Date((this.#options.now ?? Date.now)()).toISOString();
    const known = this.#read(category, key);
    const item = { category, key, summary, value, source, createdAt: known?.createdAt ?? now, updatedAt: now, enabled: true };
    await this.#write(item);
    return this.#project(item);
  }

  list(): UserLocalMemoryProjection[] {
    return namesIn(this.#folder()).flatMap((name) => {
      const item = parseItem(readText(join(this.#folder(), name)));
      return item && fileName(item) === name ? [this.#project(item)] : [];
    });
  }

  inspect(category: string, key: string): UserLocalMemoryProjection & { readonly value: JsonValue } {
    const item = this.#need(category, key);
    return { ...this.#project(item), value: item.value };
  }

  /** It stays there to be looked at, and counts no longer. */
  async disable(category: string, key: string): Promise<UserLocalMemoryProjection> {
    const updatedAt = new Date((this.#options.now ?? Date.now)()).toISOString();
    const item = { ...this.#need(category, key), enabled: false, updatedAt };
    await this.#write(item);
    return this.#project(item);
  }

  delete(category: string, key: string): void {
    rmSync(join(this.#folder(), fileName(this.#need(category, key))));
  }

  /** Null for one that is switched off or not there. */
  readEnabled(category: string, key: string): JsonValue | null {
    const item = this.#read(checkCategory(category), key);
    return item?.enabled ? item.value : null;
  }

  #folder(): string {
    return join(checkUserLocalRoot(this.#options), "user-local", "memory-projections");
  }

  #read(category: UserLocalMemoryCategory, key: string): UserLocalMemoryItem | undefined {
    return parseItem(readText(join(this.#folder(), fileName({ category, key }))));
  }

  #need(category: string, key: string): UserLocalMemoryItem {
    const item = this.#read(checkCategory(category), key);
    if (!item) throw new RuntimeError("not-found", `There is no ${category} ${key}`);
    return item;
  }

  async #write(item: UserLocalMemoryItem): Promise<void> {
    const folder = this.#folder();
    makeFolder(folder);
    await replaceFile(join(folder, fileName(item)), `${JSON.stringify(item, null, 2)}\n`);
  }

  #project({ value, ...item }: UserLocalMemoryItem): UserLocalMemoryProjection {
    const text = JSON.stringify(value);
    return {
      ...item,
      valueSummary: text.length > 80 ? `${text.slice(0, 79)}…` : text,
      scope: "user",
      location: join(this.#folder(), fileName(item)),
      displayRule: "display-and-navigation-only",
      canDisable: item.enabled,
      canDelete: true,
      commandExecutionEffect: "none",
    };
  }
}

/** For programs with a screen: what holds, or null. */
export function readEnabledUserLocalMemoryItem(
  options: UserLocalMemoryOptions,
  { category, key }: { readonly category: string; readonly key: string },
): JsonValue | null {
  return new UserLocalMemory(options).readEnabled(category, key);
}

function fileName({ category, key }: { readonly category: string; readonly key: string }): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(key) || key.includes(".."))
    throw new RuntimeError("usage", `${JSON.stringify(key)} is no key: letters, digits, ".", "_" and "-", at most 64`);
  return `${category}.${key}.json`;
}

function checkCategory(word: string): UserLocalMemoryCategory {
  const category = userLocalMemoryCategories.find((known) => known === word);
  if (category) return category;
  throw new RuntimeError("usage", `${JSON.stringify(word)} is no category; there are ${userLocalMemoryCategories.join(", ")}`);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return []; // nothing was kept yet
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function parseItem(text: string): UserLocalMemoryItem | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) return undefined;
    const { category, key, summary, source, createdAt, updatedAt, enabled } = value;
    const texts = [category, key, summary, source, createdAt, updatedAt];
    if (texts.some((field) => typeof field !== "string") || typeof enabled !== "boolean" || !("value" in value)) return undefined;
    checkCategory(String(category));
    return value as UserLocalMemoryItem; // its fields were just looked at
  } catch {
    return undefined;
  }
}
