import { type HttpAnswer, httpGet, type ResolveHost } from "./http-get.ts";
import { sizeInWords } from "./load-file.ts";
import { ToolFailure, type ToolOutput } from "./tool.ts";
import { defined } from "../util/defined.ts";

export type PageRequest = {
  readonly address: string;
  readonly allowPrivate: boolean;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly resolve: ResolveHost | undefined;
};

/** One page as text for the model. */
export async function runWebFetch(wanted: PageRequest, signal: AbortSignal): Promise<ToolOutput> {
  const { address, allowPrivate, maxBytes, timeoutMs, resolve } = wanted;
  const url = parseUrl(address);
  const limit = new AbortController();
  const tooSlow = new ToolFailure(`${url.href} did not answer within ${timeoutMs / 1000} seconds.`);
  const timer = setTimeout(() => limit.abort(tooSlow), timeoutMs);
  try {
    const eitherSignal = AbortSignal.any([signal, limit.signal]);
    const request = { url, signal: eitherSignal, maxBytes, allowPrivate, wantsBody: isReadable };
    return await inWords(await httpGet({ ...request, ...defined({ resolve }) }), url);
  } finally {
    clearTimeout(timer);
  }
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new ToolFailure(`${text} is no valid URL. Give the full address, starting with https://.`);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new ToolFailure(`Only http and https can be fetched, not ${url.protocol} Give an address that starts with https://.`);
  return url;
}

async function inWords(answer: HttpAnswer, asked: URL): Promise<ToolOutput> {
  if (answer.type === "moved") {
    return output(`${asked.href} redirects to another host and was not followed. To get that page, fetch ${answer.to.href}`);
  }
  if (answer.type === "refused") {
    const size = answer.length === undefined ? "of unknown size" : `of ${sizeInWords(answer.length)}`;
    throw new ToolFailure(`${asked.href} is ${mediaTypeOf(answer.contentType)} ${size}, which cannot be shown as text.`);
  }
  const text = await toText(answer);
  if (answer.status < 400)
    return output(text.trim() === "" ? `${answer.url.href} answered with an empty page (HTTP ${answer.status}).` : text);
  return { ...output(`${answer.url.href} answered with HTTP ${answer.status}.\n\n${text.slice(0, 2000)}`.trim()), isError: true };
}

async function toText({ body, contentType, url }: Extract<HttpAnswer, { type: "page" }>): Promise<string> {
  const mediaType = mediaTypeOf(contentType);
  const declared = /charset\s*=\s*"?([\w:.-]+)/i.exec(contentType)?.[1];
  const looksLikeHtml =
    /^text\/html$|^application\/xhtml\+xml$/.test(mediaType) || (contentType === "" && startOf(body).includes("<html"));
  if (contentType === "" && body.subarray(0, 8192).includes(0)) {
    throw new ToolFailure(`${url.href} is binary data (${sizeInWords(body.length)}), which cannot be shown as text.`);
  }
  const meta = looksLikeHtml ? /<meta[^>]{0,200}charset\s*=\s*["']?([\w:.-]+)/i.exec(startOf(body))?.[1] : undefined;
  const text = decode(body, declared ?? meta ?? "utf-8");
  if (!looksLikeHtml) return text;
  const { htmlToText } = await import("./html-text.ts");
  return htmlToText(text, url);
}

function decode(body: Uint8Array, label: string): string {
  if (body[0] === 0xff && body[1] === 0xfe) return new TextDecoder("utf-16le").decode(body);
  if (body[0] === 0xfe && body[1] === 0xff) return new TextDecoder("utf-16be").decode(body);
  try {
    const decoder = new TextDecoder(label);
    const text = decoder.decode(body);
    return decoder.encoding === "windows-1252" ? text.replace(/[\x80-\x9f]/g, fromWindows1252) : text;
  } catch {
    return new TextDecoder().decode(body); // a charset nobody knows
  }
}

/** Node before 24 decodes windows-1252, which is also what the web means by ISO-8859-1, without these thirty-two characters. */
function fromWindows1252(character: string): string {
  return "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ"[character.charCodeAt(0) - 0x80] ?? character;
}

function isReadable(contentType: string): boolean {
  const type = mediaTypeOf(contentType);
  return (
    contentType === "" ||
    type.startsWith("text/") ||
    /^application\/(.*[+.-])?(json|xml|javascript|ecmascript|yaml|toml|x-sh|x-ndjson|jsonl|sql|graphql|xhtml\+xml)$/.test(type)
  );
}

function mediaTypeOf(contentType: string): string {
  return contentType.replace(/;.*/s, "").trim().toLowerCase();
}

function startOf(body: Uint8Array): string {
  return Buffer.from(body.subarray(0, 2048)).toString("latin1").toLowerCase();
}

function output(text: string): ToolOutput {
  return { content: [{ type: "text", text }] };
}
