/** What a provider says of one of its limits: how much it lets through, how much of that is left, and when it is whole again. */
export type ToldLimit = { readonly limit: number; readonly remaining: number; readonly resetMs: number };

export type ToldLimits = { readonly requests?: ToldLimit | undefined; readonly tokens?: ToldLimit | undefined };

/** How providers name a limit, what is left and the reset. Where there are several kinds of tokens, the first that is there counts. */
const names = {
  requests: [
    ["anthropic-ratelimit-requests-limit", "anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"],
    ["x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"],
    ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"],
    ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"],
  ],
  tokens: [
    ["anthropic-ratelimit-tokens-limit", "anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"],
    [
      "anthropic-ratelimit-input-tokens-limit",
      "anthropic-ratelimit-input-tokens-remaining",
      "anthropic-ratelimit-input-tokens-reset",
    ],
    ["x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"],
  ],
} as const;

/** Reads the headers of an answer. What is not understood is left out: a limit that was guessed would hold everybody back. */
export function parseRateHeaders(headers: Readonly<Record<string, string>>, now: number): ToldLimits | undefined {
  const requests = find(headers, names.requests, now);
  const tokens = find(headers, names.tokens, now);
  return requests || tokens ? { requests, tokens } : undefined;
}

type Triple = readonly [limit: string, remaining: string, reset: string];

function find(headers: Readonly<Record<string, string>>, triples: readonly Triple[], now: number): ToldLimit | undefined {
  for (const triple of triples) {
    const [limit, remaining] = triple.slice(0, 2).map((name) => toCount(headers[name]));
    const resetMs = toWait(headers[triple[2]], now);
    if (limit !== undefined && limit > 0 && remaining !== undefined && resetMs !== undefined)
      return { limit, remaining, resetMs };
  }
  return undefined;
}

function toCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A moment (`2026-01-01T00:00:00Z`, seconds since 1970), a number of seconds, or a duration such as `1m30.5s`. */
function toWait(text: string | undefined, now: number): number | undefined {
  const word = text?.trim() ?? "";
  if (/^\d{4}-\d\d-\d\dT/.test(word)) {
    const at = Date.parse(word);
    return Number.isNaN(at) ? undefined : Math.max(0, at - now);
  }
  if (/^\d+(?:\.\d+)?$/.test(word)) {
    const seconds = Number(word);
    return seconds > 1e9 ? Math.max(0, seconds * 1_000 - now) : seconds * 1_000;
  }
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(word)) return undefined;
  return [...word.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)].reduce(
    (sum, [, count, unit = ""]) => sum + Number(count) * (units[unit] ?? 0),
    0,
  );
}
