import { createHash } from "node:crypto";
import { isJsonObject } from "../protocol/content.ts";
import { RuntimeError } from "../protocol/errors.ts";
import { maxArchive } from "./archive-entries.ts";
import { fetchUrl } from "./fetch-url.ts";
import type { PluginSource } from "./plugin-source.ts";

/** The archive of a package, checked against what its registry says of it. No script of it is run, and nothing it depends on is fetched. */
export async function npmPackage(
  { name, version = "latest", registry }: Extract<PluginSource, { type: "npm" }>,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const address = `${registry}/${encodeURIComponent(name).replace(/^%40/, "@")}/${encodeURIComponent(version)}`;
  const text = Buffer.from(await fetchUrl(address, { maxBytes: 10 * 1024 * 1024, signal })).toString("utf8");
  const about: unknown = JSON.parse(text);
  const dist = isJsonObject(about) ? about["dist"] : undefined;
  const { tarball, integrity } = isJsonObject(dist) ? dist : {};
  const sum = typeof integrity === "string" ? /(?:^|\s)sha512-([A-Za-z0-9+/=]+)/.exec(integrity)?.[1] : undefined;
  if (typeof tarball !== "string" || sum === undefined)
    throw new RuntimeError("config", `${registry} says of ${name} neither where it is nor what it should be`);
  const bytes = await fetchUrl(tarball, { maxBytes: maxArchive, signal });
  if (createHash("sha512").update(bytes).digest("base64") !== sum)
    throw new RuntimeError("config", `${name} is not what ${registry} says it should be`);
  return bytes;
}
