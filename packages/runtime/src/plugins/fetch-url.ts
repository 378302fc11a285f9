import { RuntimeError } from "../protocol/errors.ts";
import { httpGet } from "../tools/http-get.ts";
import { checkUrl, isLoopback } from "./plugin-source.ts";

const maxHops = 3;
const timeoutMs = 120_000;

/** What is at an address: directly, with no credentials, and never from a network that is not public. Each redirect is looked at anew. */
export async function fetchUrl(
  address: string,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<Uint8Array> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  let url = checkUrl(address);
  for (let hops = 0; hops <= maxHops; hops++) {
    const answer = await get(url, maxBytes, limit);
    if (answer.type === "page") {
      if (answer.status >= 200 && answer.status < 300) return answer.body;
      throw new RuntimeError("not-found", `${url.href} answered with HTTP ${answer.status}`);
    }
    if (answer.type === "refused") break;
    const next = checkUrl(answer.to.href);
    if (isLoopback(next) && !isLoopback(url))
      throw new RuntimeError("usage", `${url.href} redirects into this machine, and was not followed`);
    url = next;
  }
  throw new RuntimeError("usage", `${address} leads to too many other places`);
}

async function get(url: URL, maxBytes: number, signal: AbortSignal): ReturnType<typeof httpGet> {
  try {
    return await httpGet({ url, signal, maxBytes, allowPrivate: isLoopback(url), wantsBody: () => true });
  } catch (error) {
    throw new RuntimeError("not-found", `${url.href} cannot be fetched: ${error instanceof Error ? error.message : error}`);
  }
}
