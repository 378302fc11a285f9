import { createHash, createHmac } from "node:crypto";

export type SigningKey = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly region: string;
};

export type UnsignedRequest = { readonly method: string; readonly url: URL; readonly body: Uint8Array };

/** The headers that make it a request of the key's owner: AWS Signature Version 4 for S3. */
export function signRequest({ method, url, body }: UnsignedRequest, key: SigningKey, now: Date): Record<string, string> {
  const time = now.toISOString().replace(/[:-]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const bodyHash = sha256(body);
  const headers: Record<string, string> = {
    host: url.host,
    "x-amz-content-sha256": bodyHash,
    "x-amz-date": time,
    ...(key.sessionToken !== undefined && { "x-amz-security-token": key.sessionToken }),
  };
  const names = Object.keys(headers).sort();
  const signedNames = names.join(";");
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort();
  const canonical = [
    method,
    url.pathname,
    query.join("&"),
    ...names.map((name) => `${name}:${headers[name]}`),
    "",
    signedNames,
    bodyHash,
  ].join("\n");
  const scope = `${day}/${key.region}/s3/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", time, scope, sha256(Buffer.from(canonical))].join("\n");
  let secret: string | Buffer = `AWS4${key.secretAccessKey}`;
  for (const part of [day, key.region, "s3", "aws4_request"]) secret = createHmac("sha256", secret).update(part).digest();
  const signature = createHmac("sha256", secret).update(toSign).digest("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope}, SignedHeaders=${signedNames}, Signature=${signature}`;
  return { ...headers, authorization };
}

/** As the signature wants it: everything but letters, digits and `-_.~`. */
export function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
