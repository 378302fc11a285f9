import { createPrivateKey, createSign, type KeyObject } from "node:crypto";
import { RuntimeError } from "../../protocol/errors.ts";
import { untilAborted } from "../../util/until-aborted.ts";
import { type HttpClient, readText } from "../http.ts";
import { excerpt, redact, retryAfter } from "../http-error.ts";
import { defined } from "../../util/defined.ts";

/** What is needed of the JSON key file of a Google service account. */
export type ServiceAccount = {
  readonly email: string;
  readonly key: KeyObject;
  readonly keyId: string | undefined;
  readonly tokenURL: string;
  readonly project: string | undefined;
};

export type TokenSource = (request: { signal: AbortSignal; now: number }) => Promise<string>;

/** Access tokens of a service account: one for all requests, a new one shortly before it expires. */
export function createTokenSource(account: ServiceAccount, http: HttpClient): TokenSource {
  let cached: { token: string; until: number } | undefined;
  let pending: Promise<string> | undefined;
  return ({ signal, now }) => {
    if (cached && now < cached.until) return Promise.resolve(cached.token);
    // Callers that ask while a token is on its way wait for the same one. The abort of one caller does not take it from the others.
    pending ??= exchange(account, http, now)
      .then(({ token, lifetimeMs }) => {
        cached = { token, until: now + lifetimeMs - marginMs };
        return token;
      })
      .finally(() => {
        pending = undefined;
      });
    return untilAborted(pending, signal);
  };
}

/** Clocks differ, and a request takes its time. */
const marginMs = 60_000;
const tokenLifetimeSeconds = 3_600;
const scope = "https://www.googleapis.com/auth/cloud-platform";
const exchangeTimeouts = { headersMs: 15_000, firstByteMs: 15_000, idleMs: 15_000, totalMs: 30_000 };

/** `source` names the file in messages. */
export function parseServiceAccount(text: string, source: string): ServiceAccount {
  const fields = parseObject(text);
  if (!fields) throw unusable(source, "is no JSON object");
  if (fields["type"] !== "service_account") {
    throw unusable(source, `holds credentials of type ${JSON.stringify(fields["type"] ?? null)}, not of a service account`);
  }
  const field = (name: string): string | undefined => {
    const value = fields[name];
    return typeof value === "string" && value ? value : undefined;
  };
  const email = field("client_email");
  const pem = field("private_key");
  if (!email || !pem) throw unusable(source, "lacks client_email or private_key");
  return {
    email,
    key: parseKey(pem, source),
    keyId: field("private_key_id"),
    tokenURL: field("token_uri") ?? "https://oauth2.googleapis.com/token",
    project: field("project_id"),
  };
}

/** The signed statement that is exchanged for a token. `now` in milliseconds since 1970. */
export function signAssertion({ email, key, keyId, tokenURL }: ServiceAccount, now: number): string {
  const issued = Math.floor(now / 1_000);
  const header = { alg: "RS256", typ: "JWT", ...(keyId && { kid: keyId }) };
  const claims = { iss: email, scope, aud: tokenURL, iat: issued, exp: issued + tokenLifetimeSeconds };
  const content = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${content}.${createSign("RSA-SHA256").update(content).sign(key, "base64url")}`;
}

async function exchange(account: ServiceAccount, http: HttpClient, now: number): Promise<{ token: string; lifetimeMs: number }> {
  const assertion = signAssertion(account, now);
  const response = await http.openStream({
    url: account.tokenURL,
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion }).toString(),
    signal: new AbortController().signal,
    timeouts: exchangeTimeouts,
  });
  const text = await readText(response.body, 64 * 1024);
  const answer = parseObject(text);
  const token = answer?.["access_token"];
  if (response.status === 200 && typeof token === "string" && token) {
    const seconds = answer?.["expires_in"];
    return { token, lifetimeMs: (typeof seconds === "number" ? seconds : tokenLifetimeSeconds) * 1_000 };
  }
  const said = [answer?.["error"], answer?.["error_description"]].filter((part) => typeof part === "string").join(": ");
  const message = `${new URL(account.tokenURL).host} gave no access token (HTTP ${response.status}): ${redact(said) || excerpt(text, [assertion]) || "(empty)"}`;
  const retryAfterMs = retryAfter(response.headers, now);
  if (response.status === 429 || response.status >= 500) {
    throw new RuntimeError("provider-unavailable", message, {
      httpStatus: response.status,
      retryable: true,
      ...defined({ retryAfterMs }),
    });
  }
  throw new RuntimeError("provider-auth", message, { httpStatus: response.status, hint: "Check GOOGLE_APPLICATION_CREDENTIALS" });
}

function parseKey(pem: string, source: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw unusable(source, "holds a private_key that cannot be read"); // the cause could quote the key
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function unusable(source: string, what: string): RuntimeError {
  return new RuntimeError("config", `The key file ${source} ${what}`, {
    hint: "GOOGLE_APPLICATION_CREDENTIALS must be the path of a service account's JSON key",
  });
}
