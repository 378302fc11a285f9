import { RuntimeError } from "../../protocol/errors.ts";

/** `example.com` is one host; `*.example.com` is every host below it, and not itself. Ports 80 and 443 unless one is written. */
export type DomainRule = { readonly host: string; readonly below: boolean; readonly port: number | undefined };

export function parseDomainRule(text: string): DomainRule {
  const [, below, name = "", port] = /^(\*\.)?([^:*/@]+?)(?::(\d{1,5}))?$/.exec(text.trim()) ?? [];
  const host = canonicalHost(name);
  const number = port === undefined ? undefined : Number(port);
  if (host === undefined || (number !== undefined && (number < 1 || number > 65_535))) {
    throw new RuntimeError("config", `"${text}" is not a domain the sandbox can allow.`, {
      hint: 'Write a host name such as "example.com", "*.example.com" or "example.com:8443"; no scheme, no path',
    });
  }
  return { host, below: below !== undefined, port: number };
}

export function isAllowedTarget(rules: readonly DomainRule[], target: { host: string; port: number }): boolean {
  return rules.some((rule) => {
    const nameFits = rule.below ? target.host.endsWith(`.${rule.host}`) : target.host === rule.host;
    return nameFits && (rule.port === undefined ? target.port === 80 || target.port === 443 : target.port === rule.port);
  });
}

/**
 * The one spelling of a host name that is compared and looked up; undefined for anything that is not plainly a name. Characters
 * that another reader of the same bytes could understand differently (NUL, spaces, percent signs) are not part of names.
 */
export function canonicalHost(text: string): string | undefined {
  const host = text.toLowerCase().replace(/\.$/, "");
  if (host.length === 0 || host.length > 253) return undefined;
  const labels = host.split(".");
  if (!labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))) return undefined;
  // What ends in a number is an address in one of its many spellings, not a name.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? "")) return undefined;
  return host;
}
