import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { isJsonObject, type JsonValue } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { bundlePath } from "./read-bundle.ts";

/** Where a bundle or a marketplace comes from. */
export type PluginSource =
  | { readonly type: "folder"; readonly path: string }
  | { readonly type: "archive"; readonly location: string; readonly sha256?: string | undefined }
  | {
      readonly type: "git";
      readonly url: string;
      /** A branch, a tag or a commit. */
      readonly ref?: string | undefined;
      /** A commit, which counts before `ref`. */
      readonly sha?: string | undefined;
      /** Below the top of the repository. */
      readonly path?: string | undefined;
    }
  | { readonly type: "npm"; readonly name: string; readonly version?: string | undefined; readonly registry: string }
  /** A `marketplace.json` at an address. */
  | { readonly type: "file"; readonly location: string };

/** As people write it: a folder, an archive, `owner/repo` where no folder is called that, an address of a repository, `#ref` behind both. Throws a `usage` error. */
export function parseSource(text: string, cwd: string): PluginSource {
  const isHere = /^\.{0,2}\//.test(text) || text === "." || text === ".." || (text !== "" && existsSync(resolve(cwd, text)));
  if (isHere) return localSource(resolve(cwd, text));
  const [address = "", ref, ...more] = text.split("#");
  if (more.length > 0) throw refused(text, "it has more than one #");
  const github = /^([\w-][\w.-]*)\/([\w-][\w.-]*)$/.exec(address);
  if (github) return git({ url: `https://github.com/${address.replace(/\.git$/, "")}.git`, ref });
  const url = checkUrl(address, ["file:"]);
  if (url.protocol === "file:") return git({ url: address, ref });
  if (/\.json$/i.test(url.pathname)) return { type: "file", location: url.href };
  return isArchive(url.pathname) ? { type: "archive", location: url.href } : git({ url: address, ref });
}

/** As a `marketplace.json` or settings have it. A path starts at `base`, and stays below it. */
export function toSource(value: JsonValue | undefined, { base, local }: SourceGround): PluginSource {
  const shown = JSON.stringify(value)?.slice(0, 200) ?? "nothing";
  if (typeof value === "string") {
    const inside = bundlePath(value);
    if (inside === undefined || base === undefined) throw refused(shown, "it is no path below the marketplace");
    return { type: "folder", path: resolve(base, inside) };
  }
  if (!isJsonObject(value)) throw refused(shown, "it is neither a path nor an object");
  const text = (key: string): string | undefined => {
    const found = value[key];
    if (found !== undefined && typeof found !== "string") throw refused(shown, `${key} must be a text`);
    return found;
  };
  const need = (key: string): string => text(key) ?? missing(shown, key);
  const [ref, sha] = [text("ref"), text("sha")];
  switch (value["source"]) {
    case "github":
      if (!/^[\w-][\w.-]*\/[\w-][\w.-]*$/.test(need("repo"))) throw refused(shown, "repo must be owner/name");
      return git({ url: `https://github.com/${need("repo")}.git`, ref, sha });
    case "git":
      return git({ url: need("url"), ref, sha });
    case "url":
      return /\.json$/i.test(checkUrl(need("url")).pathname)
        ? { type: "file", location: need("url") }
        : git({ url: need("url"), ref, sha });
    case "git-subdir":
      return git({ url: need("url"), ref, sha, path: bundlePath(need("path")) ?? missing(shown, "a path below it") });
    case "archive":
      return { type: "archive", location: checkUrl(need("url")).href, sha256: text("sha256") };
    case "npm":
      return npm(need("package"), text("version"), text("registry"));
    case "directory":
    case "file":
      if (!local || !isAbsolute(need("path"))) throw refused(shown, "a folder of this machine is named by its user only");
      return localSource(need("path"));
    default:
      throw refused(shown, "this kind of source is not taken here");
  }
}

/** `local`: whoever wrote it may name folders of this machine. */
export type SourceGround = { readonly base?: string | undefined; readonly local: boolean };

/** One line that `parseSource` reads, or near to it. */
export function describeSource(source: PluginSource): string {
  switch (source.type) {
    case "folder":
      return source.path;
    case "archive":
    case "file":
      return source.location;
    case "npm":
      return `npm:${source.name}${source.version === undefined ? "" : `@${source.version}`}`;
    case "git": {
      const at = source.sha ?? source.ref;
      return `${source.url}${at === undefined ? "" : `#${at}`}${source.path === undefined ? "" : ` (${source.path})`}`;
    }
  }
}

function localSource(path: string): PluginSource {
  if (isArchive(path)) return { type: "archive", location: path };
  return path.endsWith(".json") ? { type: "file", location: path } : { type: "folder", path };
}

function isArchive(path: string): boolean {
  return /\.(?:zip|tgz|tar\.gz|tar)$/i.test(path);
}

type Git = Extract<PluginSource, { type: "git" }>;

/** Only https, `file://`, and http on this machine; words that git could take for an option or a program are none of these. */
function git({ url, ref, sha, path }: Omit<Git, "type">): Git {
  checkUrl(url, ["file:"]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (ref !== undefined && (!/^[\w][\w./+@-]{0,200}$/.test(ref) || /\.\.|@\{|[\u0000-\u001f]/.test(ref)))
    throw refused(ref, "it is no name of a branch, tag or commit");
  if (sha !== undefined && !/^[0-9a-f]{40,64}$/i.test(sha)) throw refused(sha, "it is no commit");
  return { type: "git", url, ref, sha, path };
}

function npm(name: string, version: string | undefined, registry = "https://registry.npmjs.org"): PluginSource {
  if (!/^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/i.test(name)) throw refused(name, "it is no name of a package");
  if (version !== undefined && !/^[\w.+-]{1,100}$/.test(version)) throw refused(version, "it is no version or tag");
  return { type: "npm", name, version, registry: checkUrl(registry).href.replace(/\/$/, "") };
}

/** An address that may be fetched: https, or http on this machine. */
export function checkUrl(text: string, also: readonly string[] = []): URL {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  const isPlain = !/^-|[\u0000-\u0020\u007f\\]/.test(text) && !/^[a-z-]+::/i.test(text) && URL.canParse(text);
  if (!isPlain) throw refused(text, "it is no folder, no owner/repo and no address");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") throw refused(url.host, "it has a name or a password in it");
  const isHere = url.protocol === "http:" && isLoopback(url);
  if (url.protocol === "https:" || isHere || also.includes(url.protocol)) return url;
  throw refused(text, "only https is taken");
}

export function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]";
}

function refused(text: string, why: string): RuntimeError {
  return new RuntimeError("usage", `The source ${text.slice(0, 200)} is refused: ${why}`);
}

function missing(shown: string, what: string): never {
  throw refused(shown, `it needs ${what}`);
}
