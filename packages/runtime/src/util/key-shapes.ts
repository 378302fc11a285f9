import type { SecretShape } from "./secret-shapes.ts";

/** Keys by the beginnings that issuers gave them so that they can be found, and private keys by their first line. */
export function createKeyShapes(): SecretShape[] {
  return [...keyShapes.map(toKeyShape), pem];
}

const wordCharacters = "[A-Za-z0-9_-]";
const wordCharacter = /[A-Za-z0-9_-]/;
const base64Characters = /[A-Za-z0-9_/+-]/;
const digitAhead = "(?=[A-Za-z_-]*\\d)";

type KeyShape = readonly [kind: string, beginnings: string | readonly string[], rest: string];

const keyShapes: readonly KeyShape[] = [
  ["anthropic-key", "sk-ant-", "[\\w-]{8,}"],
  ["api-key", "sk-", `${digitAhead}[\\w-]{16,}`],
  ["google-key", "AIza", "[\\w-]{30,}"],
  ["google-token", "ya29.", "[\\w-]{20,}"],
  ["google-secret", "GOCSPX-", "[\\w-]{20,}"],
  ["github-token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "[A-Za-z0-9]{20,}"],
  ["github-token", "github_pat_", "\\w{20,}"],
  ["gitlab-token", ["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-"], "[\\w-]{16,}"],
  ["slack-token", ["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-"], "[\\w-]{10,}"],
  ["slack-token", "xapp-", `${digitAhead}[\\w-]{20,}`],
  ["aws-key-id", ["AKIA", "ASIA"], `[A-Z0-9]{16}(?!${wordCharacters})`],
  ["aws-session-token", ["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"], "[A-Za-z0-9/+]{50,}={0,2}"],
  ["bedrock-key", "ABSK", "[A-Za-z0-9/+]{60,}={0,2}"],
  ["npm-token", "npm_", "[A-Za-z0-9]{30,}"],
  ["pypi-token", "pypi-", "[\\w-]{50,}"],
  ["hugging-face-token", "hf_", "[A-Za-z0-9]{20,}"],
  ["groq-key", "gsk_", "[A-Za-z0-9]{20,}"],
  ["xai-key", "xai-", `${digitAhead}[A-Za-z0-9]{20,}`],
  ["perplexity-key", "pplx-", `${digitAhead}[A-Za-z0-9]{20,}`],
  ["tavily-key", "tvly-", `${digitAhead}[\\w-]{16,}`],
  ["nvidia-key", "nvapi-", "[\\w-]{30,}"],
  ["replicate-token", "r8_", "[A-Za-z0-9]{30,}"],
  ["e2b-key", "e2b_", "[a-f0-9]{30,}"],
  ["stripe-key", ["sk_live_", "sk_test_", "rk_live_", "rk_test_"], "[A-Za-z0-9]{10,}"],
  ["stripe-secret", "whsec_", "[A-Za-z0-9]{24,}"],
  ["sendgrid-key", "SG.", "[\\w-]{16,}\\.[\\w-]{16,}"],
  ["vault-token", ["hvs.", "hvb."], "[\\w-]{24,}"],
  ["digitalocean-token", ["dop_v1_", "doo_v1_", "dor_v1_"], "[a-f0-9]{40,}"],
  ["databricks-token", "dapi", "[a-f0-9]{32}(?:-\\d)?(?![\\w-])"],
  ["docker-token", ["dckr_pat_", "dckr_oat_"], "[\\w-]{20,}"],
  ["shopify-token", ["shpat_", "shpss_", "shpca_", "shppa_"], "[a-fA-F0-9]{32}"],
  ["linear-key", "lin_api_", "[A-Za-z0-9]{30,}"],
  ["figma-token", "figd_", "[\\w-]{30,}"],
  ["atlassian-token", "ATATT3x", "[\\w=-]{50,}"],
  ["sentry-token", ["sntrys_", "sntryu_"], "[\\w+/=-]{40,}"],
  ["age-key", "AGE-SECRET-KEY-1", "[A-Z0-9]{40,}"],
  ["json-web-token", "eyJ", "[\\w-]{10,}\\.eyJ[\\w-]{10,}\\.[\\w-]{10,}"],
];

function toKeyShape([kind, beginnings, rest]: KeyShape): SecretShape {
  const literals = [beginnings].flat();
  let compiled: RegExp | undefined; // when the first one is looked at: most are never needed
  const slashes = rest.includes("/+");
  return {
    literals,
    notAfter: slashes ? base64Characters : wordCharacter,
    find(text, at) {
      compiled ??= new RegExp(rest, "y");
      compiled.lastIndex = at + (literals.find((literal) => text.startsWith(literal, at))?.length ?? 0);
      return compiled.test(text) ? { start: at, end: compiled.lastIndex, kind } : undefined;
    },
    open: slashes ? /^[\w+/=-]*$/ : /^[\w.-]*$/,
  };
}

const pemStart = /-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/y;
const pemEnd = /-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g;
/** Longer than any key; also what is held back of a text that is still being written. */
const maxPem = 16 * 1024;

/** From the first line of a private key to its last; when that is missing, as far as it looks like a key. */
const pem: SecretShape = {
  literals: ["-----BEGIN "],
  notAfter: undefined,
  find(text, at) {
    pemStart.lastIndex = at;
    if (!pemStart.test(text)) return undefined;
    const from = pemStart.lastIndex;
    const next = text.indexOf("-----BEGIN ", from);
    const rest = text.slice(from, Math.min(from + maxPem, next === -1 ? text.length : next));
    pemEnd.lastIndex = 0;
    const last = pemEnd.exec(rest);
    // Between the two lines: base64, headers of old formats, line numbers, quotes and escapes around lines; no code.
    if (last && /^[\w+/=\s\\,:.|\u2192"'-]*$/.test(rest.slice(0, last.index)))
      return { start: at, end: from + pemEnd.lastIndex, kind: "private-key" };
    const lines = /^(?:[A-Za-z0-9+/=\s]|\\[nr])*/.exec(rest)?.[0] ?? "";
    return /[A-Za-z0-9+/]{40,}/.test(lines) ? { start: at, end: from + lines.trimEnd().length, kind: "private-key" } : undefined;
  },
  open: /^(?:[A-Z0-9 ]{0,40}-{0,4}|(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?![\s\S]*-----END [A-Z0-9 ]{1,60}-----)[\s\S]*)$/,
};
