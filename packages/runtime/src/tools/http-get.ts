import type { LookupAddress } from "node:dns";
import type { IncomingMessage } from "node:http";
import { ToolFailure } from "./tool.ts";
import { isLocalName, isPublicAddress } from "./web-address.ts";

export type HttpGetOptions = {
  readonly url: URL;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  /** Also reach loopback and private networks. */
  readonly allowPrivate: boolean;
  /** Asked when the head of the answer is there; false leaves the body unread. */
  wantsBody(contentType: string): boolean;
  /** Every address of a host; the system's resolver when absent. */
  readonly resolve?: ResolveHost;
};

export type ResolveHost = (host: string) => Promise<LookupAddress[]>;

/** `moved` goes to another host and was not followed. `refused` is an answer whose body was not wanted. */
export type HttpAnswer =
  | { type: "page"; url: URL; status: number; contentType: string; body: Uint8Array }
  | { type: "moved"; to: URL }
  | { type: "refused"; contentType: string; length: number | undefined };

const maxRedirects = 5;

/** Gets one page, directly, never through a proxy: the program that looks up the name must be the one that connects. Redirects are followed as long as they stay on the same host. */
export async function httpGet(options: HttpGetOptions): Promise<HttpAnswer> {
  let url = options.url;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const response = await request(url, options);
    const location = isRedirect(response.statusCode) ? response.headers.location : undefined;
    if (location === undefined) return readAnswer(response, url, options);

    response.destroy();
    const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if (!next) throw new ToolFailure(`${url.href} redirects to an address that is no URL: ${location.slice(0, 200)}`);
    const staysSafe = next.protocol === url.protocol || (url.protocol === "http:" && next.protocol === "https:");
    if (next.host !== url.host || !staysSafe) {
      refuseLocal(next, options); // the model is not told to go where it may not
      return { type: "moved", to: next };
    }
    url = next;
  }
  throw new ToolFailure(`${options.url.href} redirects more than ${maxRedirects} times.`);
}

async function request(url: URL, options: HttpGetOptions): Promise<IncomingMessage> {
  const { signal, allowPrivate } = options;
  if (url.username !== "" || url.password !== "")
    throw new ToolFailure("URLs with a user name or password in them are not fetched.");
  refuseLocal(url, options);
  const addresses = await resolveHost(url, options);
  const blocked = addresses.find(({ address }) => !isPublicAddress(address));
  if (blocked && !allowPrivate) throw notPublic(url, blocked.address);
  const { request: send } =
    url.protocol === "https:" ? process.getBuiltinModule("node:https") : process.getBuiltinModule("node:http");
  return new Promise((resolve, reject) => {
    const outgoing = send(url, {
      agent: false,
      signal,
      headers: {
        "user-agent": "Mozilla/5.0 (compatible; Outrider WebFetch)",
        accept: "text/html,application/xhtml+xml,application/json,text/*;q=0.9,*/*;q=0.5",
        "accept-encoding": "gzip, deflate, br",
        connection: "close",
      },
      // The addresses that were checked are the ones connected to: a second look-up could answer differently.
      lookup: (_host, { all }, done) => {
        const [first] = addresses;
        if (all || !first) done(null, addresses);
        else done(null, first.address, first.family);
      },
    });
    outgoing.on("response", resolve);
    outgoing.on("error", (error) => reject(signal.aborted ? signal.reason : unreachable(url, error)));
    outgoing.end();
  });
}

/** By name and by number, before anyone is asked: a resolver may lie, and a question to it can carry data out. */
function refuseLocal(url: URL, { allowPrivate }: HttpGetOptions): void {
  if (allowPrivate) return;
  const host = hostOf(url);
  const isNumber = process.getBuiltinModule("node:net").isIP(host) !== 0;
  if (isNumber ? !isPublicAddress(host) : isLocalName(host)) throw notPublic(url, isNumber ? host : "by its name");
}

async function resolveHost(url: URL, { signal, resolve = lookUp }: HttpGetOptions): Promise<LookupAddress[]> {
  const host = hostOf(url);
  const family = process.getBuiltinModule("node:net").isIP(host);
  if (family !== 0) return [{ address: host, family }];
  const answer = resolve(host).catch((error) => Promise.reject(unreachable(url, error)));
  const addresses = await Promise.race([answer, rejectOnAbort(signal)]);
  if (addresses.length === 0) throw unreachable(url, { code: "ENOTFOUND" });
  return addresses;
}

async function lookUp(host: string): Promise<LookupAddress[]> {
  return await process.getBuiltinModule("node:dns/promises").lookup(host, { all: true });
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

async function readAnswer(response: IncomingMessage, url: URL, options: HttpGetOptions): Promise<HttpAnswer> {
  const contentType = response.headers["content-type"] ?? "";
  const length = Number.parseInt(response.headers["content-length"] ?? "", 10);
  if (!options.wantsBody(contentType)) {
    response.destroy();
    return { type: "refused", contentType, length: Number.isNaN(length) ? undefined : length };
  }
  const raw = await readBody(response, url, options);
  const body = await decompress(raw, response.headers["content-encoding"] ?? "", { url, maxBytes: options.maxBytes });
  return { type: "page", url, status: response.statusCode ?? 0, contentType, body };
}

async function readBody(response: IncomingMessage, url: URL, { maxBytes, signal }: HttpGetOptions): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(url, maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof ToolFailure ? error : unreachable(url, error);
  }
  return Buffer.concat(chunks);
}

async function decompress(body: Buffer, encoding: string, facts: { url: URL; maxBytes: number }): Promise<Uint8Array> {
  const name = encoding.trim().toLowerCase();
  if (name === "" || name === "identity" || body.length === 0) return body;
  const zlib = process.getBuiltinModule("node:zlib");
  const { promisify } = process.getBuiltinModule("node:util");
  const options = { maxOutputLength: facts.maxBytes };
  // "deflate" should be a zlib stream, whose first byte ends in 8; some servers send the bare one.
  const inflate = ((body[0] ?? 0) & 0x0f) === 8 ? zlib.inflate : zlib.inflateRaw;
  try {
    if (name === "gzip" || name === "x-gzip") return await promisify<Buffer, object, Buffer>(zlib.gunzip)(body, options);
    if (name === "deflate") return await promisify<Buffer, object, Buffer>(inflate)(body, options);
    if (name === "br") return await promisify<Buffer, object, Buffer>(zlib.brotliDecompress)(body, options);
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(facts.url, facts.maxBytes);
    throw new ToolFailure(`The answer of ${facts.url.host} could not be decompressed (${name}).`, { cause: error });
  }
  throw new ToolFailure(`The answer of ${facts.url.host} is compressed in an unknown way (${name}).`);
}

function isRedirect(status: number | undefined): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

function notPublic(url: URL, why: string): ToolFailure {
  return new ToolFailure(
    `${url.hostname} is not on the public internet (${why}); WebFetch does not reach private addresses. Give a public one.`,
  );
}

function tooLarge(url: URL, maxBytes: number): ToolFailure {
  return new ToolFailure(`${url.href} is larger than ${Math.round(maxBytes / 1024 / 1024)} MB and was not fetched.`);
}

function unreachable(url: URL, error: unknown): ToolFailure {
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  const reason = code === "ENOTFOUND" ? "there is no such host" : error instanceof Error ? error.message || code : String(error);
  return new ToolFailure(`${url.host} could not be reached: ${reason}`, { cause: error });
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
