import { readFile } from "node:fs/promises";
import { RuntimeError } from "../protocol/errors.ts";
import type { Env } from "./proxy.ts";

/**
 * The PEM texts of the certificate authorities SSL_CERT_FILE names; empty when it is not set.
 * Node reads NODE_EXTRA_CA_CERTS by itself, but forgets it as soon as a list is passed in: so then it is part of the list.
 */
export async function loadExtraCa(env: Env): Promise<string[]> {
  if (!env["SSL_CERT_FILE"]) return [];
  const texts: string[] = [];
  for (const name of ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"]) {
    const path = env[name];
    if (path) texts.push(await readPem(name, path));
  }
  return texts;
}

/** What Node trusts by itself, and `extra`. */
export function trustedRoots(extra: readonly string[]): string[] {
  const tls: { rootCertificates: readonly string[]; getCACertificates?: (type: "default") => string[] } =
    process.getBuiltinModule("node:tls");
  return [...(tls.getCACertificates?.("default") ?? tls.rootCertificates), ...extra];
}

async function readPem(name: string, path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((error: Error) => {
    throw new RuntimeError("config", `${name} names a file that cannot be read: ${error.message}`, { cause: error });
  });
  if (text.includes("-----BEGIN")) return text;
  throw new RuntimeError("config", `${name} names ${path}, which holds no PEM certificate`);
}
