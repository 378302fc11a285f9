import { createHash, createHmac } from "node:crypto";

export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Only temporary credentials have one. */
  readonly sessionToken?: string;
};

export type UnsignedRequest = {
  readonly method: string;
  readonly url: string;
  /** The headers to sign beside host and date; repeated ones joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type SigningScope = {
  readonly credentials: AwsCredentials;
  readonly region: string;
  readonly service: string;
  /** Milliseconds since 1970. AWS refuses a signature that is more than some minutes old. */
  readonly now: number;
};

/** The given headers with date, token and `authorization` of AWS Signature Version 4. The host is signed, and sent by the HTTP client. */
export function signRequest(request: UnsignedRequest, scope: SigningScope): Record<string, string> {
  const { credentials, region, service } = scope;
  const time = toAmzDate(scope.now);
  const headers: Record<string, string> = {
    ...request.headers,
    "x-amz-date": time,
    ...(credentials.sessionToken && { "x-amz-security-token": credentials.sessionToken }),
  };
  const signed = canonicalHeaders({ ...headers, host: new URL(request.url).host });
  const names = signed.map(([name]) => name).join(";");
  const day = `${time.slice(0, 8)}/${region}/${service}/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, day, sha256(canonicalRequest(request, signed))].join("\n");
  const signature = hmac(signingKey(scope, time.slice(0, 8)), text).toString("hex");
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${day}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

/** `20150830T123600Z`. */
function toAmzDate(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
}

type Header = readonly [name: string, value: string];

function canonicalHeaders(headers: Readonly<Record<string, string>>): Header[] {
  return Object.entries(headers)
    .map(([name, value]): Header => [name.toLowerCase(), value.trim().replace(/ +/g, " ")])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function canonicalRequest({ method, url, body }: UnsignedRequest, headers: readonly Header[]): string {
  const { pathname, searchParams } = new URL(url);
  return [
    method,
    // Every service but S3 encodes the path as it is sent once more: a `%3A` on the wire is signed as `%253A`.
    pathname.split("/").map(encode).join("/"),
    canonicalQuery(searchParams),
    ...headers.map(([name, value]) => `${name}:${value}`),
    "",
    headers.map(([name]) => name).join(";"),
    sha256(body),
  ].join("\n");
}

function canonicalQuery(parameters: URLSearchParams): string {
  return [...parameters]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join("&");
}

/** Everything but letters, digits, `-`, `.`, `_` and `~`; `encodeURIComponent` leaves five more as they are. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function signingKey({ credentials, region, service }: SigningScope, date: string): Buffer {
  return hmac(hmac(hmac(hmac(`AWS4${credentials.secretAccessKey}`, date), region), service), "aws4_request");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text, "utf8").digest();
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
