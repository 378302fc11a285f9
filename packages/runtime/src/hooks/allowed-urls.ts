import { anyText, matchPieces } from "../util/match-pieces.ts";

/**
 * Is this address among those hooks may send to? `https://hooks.example.com/ci/*` allows what is under /ci/, `https://x.example.com` and
 * `x.example.com` the whole host, `https://*.example.com` its subdomains. A `*` in the host never reaches over into the path.
 */
export function isAllowedUrl(url: string, patterns: readonly string[]): boolean {
  const { protocol, hostname, port, pathname, username, password } = new URL(url);
  if (username || password) return false; // they would be sent to the host, and look like one
  const wanted = { scheme: protocol.slice(0, -1), host: hostname, port: port || defaultPort(protocol), path: pathname };
  return patterns.some((pattern) => fits(wanted, pattern));
}

type Address = { scheme: string; host: string; port: string; path: string };

function fits(address: Address, pattern: string): boolean {
  const [, scheme, host, port, path] = /^(?:(https?):\/\/)?(\[[^\]]*\]|[^/:@?#]+)(?::(\d+|\*))?(\/[^?#]*)?$/i.exec(pattern) ?? [];
  if (host === undefined) return false;
  if (scheme !== undefined && scheme.toLowerCase() !== address.scheme) return false;
  if (!isLike(address.host, host.toLowerCase())) return false;
  if (port !== "*" && (port ?? defaultPort(`${address.scheme}:`)) !== address.port) return false;
  return path === undefined || path === "/" || isLike(address.path, path);
}

function isLike(text: string, glob: string): boolean {
  const pieces = glob.split(/(\*+)/).filter((word) => word !== "");
  return matchPieces(
    pieces.map((word) => (word.startsWith("*") ? anyText : { kind: "text", text: word })),
    text,
  );
}

function defaultPort(protocol: string): string {
  return protocol === "https:" ? "443" : "80";
}
