import { isAbsolute } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { isLocalName, isPublicAddress } from "../tools/web-address.ts";
import { isLoopback, type PluginSource } from "./plugin-source.ts";

/**
 * A marketplace is written by others. What it names is below it, at a public address, or at the host it comes from itself: it cannot make this
 * machine ask others in its network. Files and ports of this machine are named by a marketplace of this machine only.
 */
export async function checkNamedPlace(source: PluginSource, marketplace: PluginSource): Promise<void> {
  const url = addressOf(source);
  if (!url) return;
  const from = addressOf(marketplace);
  const isOfHere = !from || from.protocol === "file:" || isLoopback(from);
  if (url.protocol === "file:" || isLoopback(url)) {
    if (isOfHere) return;
    throw refused(url, "it is on this machine");
  }
  if (from?.hostname === url.hostname) return;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isLocalName(host)) throw refused(url, "it is in a private network");
  const addresses = await addressesOf(host);
  const found = addresses.find((address) => !isPublicAddress(address));
  if (found !== undefined) throw refused(url, `${found} is no public address`);
}

function addressOf(source: PluginSource): URL | undefined {
  switch (source.type) {
    case "folder":
      return undefined;
    case "git":
      return new URL(source.url);
    case "npm":
      return new URL(source.registry);
    case "archive":
    case "file":
      return isAbsolute(source.location) ? undefined : new URL(source.location);
  }
}

/** None where nobody knows the name: a proxy may, and asks from where it is. */
async function addressesOf(host: string): Promise<string[]> {
  if (process.getBuiltinModule("node:net").isIP(host) !== 0) return [host];
  try {
    const found = await process.getBuiltinModule("node:dns/promises").lookup(host, { all: true });
    return found.map(({ address }) => address);
  } catch {
    return [];
  }
}

function refused(url: URL, why: string): RuntimeError {
  return new RuntimeError("usage", `The marketplace names ${url.href.slice(0, 200)}, which is refused: ${why}`, {
    hint: "Install it by its address if you mean it",
  });
}
