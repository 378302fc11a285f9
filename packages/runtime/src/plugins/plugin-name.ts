/** A name that is the same on every file system, and no path, option or device on any. */
const pattern = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?$/;
const devices = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
/** Who brings what: `inline` is a folder of a flag, `direct` a source without a marketplace, `builtin` nobody's. */
const ownWords: ReadonlySet<string> = new Set(["inline", "direct", "builtin", "skills-dir"]);

export function isPluginName(name: unknown): name is string {
  return typeof name === "string" && pattern.test(name) && !devices.test(name) && name !== "constructor";
}

export function isMarketplaceName(name: unknown): name is string {
  return isPluginName(name) && !ownWords.has(name.toLowerCase());
}

/** `name@marketplace`; undefined for anything else. */
export function parsePluginId(id: string): { readonly name: string; readonly marketplace: string } | undefined {
  const [name, marketplace, ...more] = id.split("@");
  return more.length === 0 && isPluginName(name) && isPluginName(marketplace) ? { name, marketplace } : undefined;
}

/** As it stands in names of folders. */
export function dataFolderName(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, "-");
}
