import { looksRandom } from "./secret-pieces.ts";
import type { SecretShape } from "./secret-shapes.ts";
import { literally } from "./secret-texts.ts";

/** Keys by the beginnings that issuers gave them so that they can be found, and private keys by their first line. */
export function createKeyShapes(): SecretShape[] {
  return [...keyShapes.map(toKeyShape), pem, pemTail, telegram];
}

const wordCharacter = /[A-Za-z0-9_-]/;
const base64Characters = /[A-Za-z0-9_/+-]/;
const ended = "(?![A-Za-z0-9])";
const digitAhead = "(?=[A-Za-z_-]*\\d)";
const hexDigits = [..."0123456789abcdef"];

/**
 * `certain`: what follows where it is a key even at the end of another word; when absent, sixteen characters that look random.
 * Bounded: a word may hold many beginnings.
 */
type KeyShape = readonly [kind: string, beginnings: string | readonly string[], rest: string, certain?: string];

const never = "(?!)";
/** Many words end with "sk-", and a name may follow: task-5f3e9a. */
const longAndMixed = "(?:[a-z0-9]{1,8}-){0,2}(?=[A-Za-z]{0,12}\\d)(?=\\w{0,12}[A-Z])(?=\\w{0,12}[a-z])[A-Za-z0-9]{32}";

const keyShapes: readonly KeyShape[] = [
  ["anthropic-key", "sk-ant-", "[\\w-]{8,}"],
  ["api-key", "sk-", `${digitAhead}[\\w-]{16,}`, `(?<![A-Za-z]sk-)(?=[A-Za-z_-]{0,15}\\d)[\\w-]{16}|${longAndMixed}`],
  ["google-key", "AIza", "[\\w-]{30,}"],
  ["google-token", "ya29.", "[\\w-]{20,}"],
  ["google-secret", "GOCSPX-", "[\\w-]{20,}"],
  ["github-token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "[A-Za-z0-9]{20,}"],
  ["github-token", "github_pat_", "\\w{20,}"],
  ["gitlab-token", ["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-"], "[\\w-]{16,}"],
  [
    "slack-token",
    ["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-"],
    "[\\w-]{10,}",
    "\\d{6,}-[\\w-]{8}",
  ],
  ["slack-token", "xapp-", `${digitAhead}[\\w-]{20,}`],
  ["aws-key-id", ["AKIA", "ASIA"], `[A-Z0-9]{16}${ended}`, `(?=[A-Z]{0,15}\\d)[A-Z0-9]{16}${ended}`],
  ["aws-session-token", ["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"], "[A-Za-z0-9/+]{50,}={0,2}"],
  ["bedrock-key", "ABSK", "[A-Za-z0-9/+]{60,}={0,2}", never],
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
  ["twilio-key", hexDigits.map((digit) => `SK${digit}`), `[a-f0-9]{31}${ended}`],
  ["vault-token", ["hvs.", "hvb."], "[\\w-]{24,}"],
  ["doppler-token", ["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], "(?:[\\w-]{1,40}\\.)?[A-Za-z0-9]{32,}"],
  ["digitalocean-token", ["dop_v1_", "doo_v1_", "dor_v1_"], "[a-f0-9]{40,}"],
  ["databricks-token", "dapi", `[a-f0-9]{32}(?:-\\d)?${ended}`],
  ["docker-token", ["dckr_pat_", "dckr_oat_"], "[\\w-]{20,}"],
  ["shopify-token", ["shpat_", "shpss_", "shpca_", "shppa_"], "[a-fA-F0-9]{32}"],
  ["square-token", "EAAA", `${digitAhead}[\\w-]{50,80}(?![\\w/+=-])`, never],
  ["square-token", ["sq0atp-", "sq0csp-"], "[\\w-]{20,}"],
  ["linear-key", "lin_api_", "[A-Za-z0-9]{30,}"],
  ["figma-token", "figd_", "[\\w-]{30,}"],
  ["atlassian-token", ["ATATT", "ATCTT"], "[\\w=-]{50,}"],
  ["bitbucket-password", "ATBB", `[A-Za-z0-9]{28,32}${ended}`],
  ["sentry-token", ["sntrys_", "sntryu_"], "[\\w+/=-]{40,}"],
  ["fly-token", ["fm1r_", "fm1a_", "fm2_"], "[A-Za-z0-9/+]{40,}={0,2}"],
  ["fly-token", "fo1_", "[\\w-]{30,}"],
  ["new-relic-key", ["NRAK-", "NRII-", "NRSP-", "NRRA-"], "[\\w-]{20,}"],
  ["postman-key", "PMAK-", "[\\w-]{24,}"],
  ["tailscale-key", "tskey-", `${digitAhead}[\\w-]{16,}`],
  ["grafana-token", ["glsa_", "glc_"], "\\w{30,}={0,2}"],
  ["supabase-token", ["sbp_", "sb_secret_"], `${digitAhead}[\\w-]{20,}`],
  ["planetscale-token", ["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], "[\\w.-]{30,}"],
  ["notion-token", "ntn_", "[A-Za-z0-9]{30,}"],
  ["heroku-key", "HRKU-", "[\\w-]{30,}"],
  ["pulumi-token", "pul-", "[a-f0-9]{40}"],
  ["circleci-token", ["CCIPAT_", "CCIPRJ_"], "\\w{20,}"],
  ["buildkite-token", ["bkua_", "bkaj_"], "[a-f0-9]{30,}"],
  ["rubygems-key", "rubygems_", "[a-f0-9]{40,}"],
  ["langsmith-key", ["lsv2_pt_", "lsv2_sk_"], "\\w{30,}"],
  ["pinecone-key", "pcsk_", "\\w{30,}"],
  ["brevo-key", ["xkeysib-", "xsmtpsib-"], "[\\w-]{40,}"],
  ["netlify-token", "nfp_", "[A-Za-z0-9]{30,}"],
  ["age-key", "AGE-SECRET-KEY-1", "[A-Z0-9]{40,}"],
  ["json-web-token", "eyJ", "[\\w-]{10,}\\.eyJ[\\w-]{10,}\\.[\\w-]{10,}", "(?:(?!eyJ)[\\w-]){10,256}\\.eyJ[\\w-]{10}"],
];

function toKeyShape([kind, beginnings, rest, certain]: KeyShape): SecretShape {
  const literals = [beginnings].flat();
  const follow = (what: string): RegExp => new RegExp(`(?:${literals.map(literally).join("|")})(${what})`, "y");
  let compiled: { rest: RegExp; certain: RegExp } | undefined; // when the first one is looked at: most are never needed
  const matchAt = (which: "rest" | "certain", text: string, at: number): RegExpExecArray | null => {
    compiled ??= { rest: follow(rest), certain: follow(certain ?? "[\\w/+-]{16,64}") };
    compiled[which].lastIndex = at;
    return compiled[which].exec(text);
  };
  const slashes = rest.includes("/+");
  return {
    literals,
    notAfter: slashes ? base64Characters : wordCharacter,
    find(text, at) {
      const found = matchAt("rest", text, at);
      return found ? { start: at, end: at + found[0].length, kind } : undefined;
    },
    isCertain(text, at) {
      const following = matchAt("certain", text, at)?.[1];
      return following !== undefined && (certain !== undefined || looksRandom(following));
    },
    open: slashes ? /^[\w+/=-]*$/ : /^[\w.-]*$/,
  };
}

const pemStart = /-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/y;
const pemEnd = /-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/;
const endHere = new RegExp(pemEnd, "y");
/** Longer than any key; also what is held back of a text that is still being written. */
const maxPem = 16 * 1024;

/** Lines of a key, each perhaps behind its number, the name of its file or the sign of a difference. */
const keyLines =
  /^(?:(?<=[\n\r])[ \t]{0,8}[\w./-]{0,128}[:-]?\d{0,9}[:|\u2192<>-][ \t]?(?=[A-Za-z0-9+/=]{16,}(?:\s|$))|[A-Za-z0-9+/=\s]|\\[nr])*/;

export const privateKey: string = "private-key";

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
    const last = pemEnd.exec(rest);
    // Between the two lines: base64, headers of old formats, line numbers, quotes and escapes around lines; no code.
    if (last && /^[\w+/=\s\\,:.|\u2192"'<>-]*$/.test(rest.slice(0, last.index)))
      return { start: at, end: from + last.index + last[0].length, kind: privateKey };
    const lines = keyLines.exec(rest)?.[0] ?? "";
    return /[A-Za-z0-9+/]{40,}/.test(lines) ? { start: at, end: from + lines.trimEnd().length, kind: privateKey } : undefined;
  },
  open: /^(?:[A-Z0-9 ]{0,40}-{0,4}|(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?![\s\S]*-----END [A-Z0-9 ]{1,60}-----)[\s\S]*)$/,
};

/** The end of a private key whose first line is not shown, as `tail` does. */
const pemTail: SecretShape = {
  literals: ["-----END "],
  notAfter: undefined,
  find(text, at) {
    endHere.lastIndex = at;
    if (!endHere.test(text)) return undefined;
    const end = endHere.lastIndex;
    let start = at;
    while (at - start < maxPem) {
      const [, tail = "", body = ""] = lineBefore.exec(text.slice(Math.max(0, start - longestLine), start)) ?? [];
      if (body === "" || (start !== at && body.length < 40)) break; // only the last line is short
      start -= tail.length;
    }
    return looksRandom(text.slice(start, at)) ? { start, end, kind: privateKey } : undefined;
  },
  open: /^(?!)/,
};

/** A line of a key, with all that stands before it and what stands before the place that is looked at, is not longer than this. */
const longestLine = 512;
/** The line before this one, if it is one of a key: from its key on, and the key. */
const lineBefore =
  /(?:^|\n)(?:[\w./-]{0,128}[:-])?[ \t]{0,8}(?:\d{1,9}[\t:|\u2192-])?[ \t+<>|-]{0,8}?(([A-Za-z0-9+/]{1,128}={0,2})[ \t\r]{0,4}\n[^\n]{0,160})$/;

const telegramToken = /:AA[\w-]{30,40}(?![\w-])/y;

/** `123456789:AA…`: the number of the bot is no secret. */
const telegram: SecretShape = {
  literals: [":AA"],
  notAfter: undefined,
  find(text, at) {
    telegramToken.lastIndex = at;
    if (!/\d{6,}$/.test(text.slice(Math.max(0, at - 10), at)) || !telegramToken.test(text)) return undefined;
    return { start: at + 1, end: telegramToken.lastIndex, kind: "telegram-token" };
  },
  open: /^[\w-]*$/,
};
