import { setTimeout as delay } from "node:timers/promises";
import { checkKey, type ObjectStore, StoreFailed } from "./object-store.ts";
import { encode, type SigningKey, signRequest } from "./sign-request.ts";

export type S3StoreOptions = {
  readonly bucket: string;
  /** In front of every key; with a `/` at its end unless it is empty. */
  readonly prefix?: string | undefined;
  /** Of the service, such as `https://s3.eu-central-1.amazonaws.com` or that of a MinIO. The bucket is the first part of the path. */
  readonly endpoint: string;
  readonly key: SigningKey;
};

const tries = 4;
const timeoutMs = 60_000;

/** Objects of any service that speaks S3: four kinds of requests are all it needs. */
export function openS3Store({ bucket, prefix = "", endpoint, key }: S3StoreOptions): ObjectStore {
  const bucketPath = `/${encode(bucket)}`;
  const pathOf = (name: string): string => `${bucketPath}/${`${prefix}${checkKey(name)}`.split("/").map(encode).join("/")}`;
  const place = `bucket ${bucket} at ${new URL(endpoint).host}`;

  const send = async (method: string, path: string, more: { body?: Uint8Array; query?: Record<string, string> } = {}) => {
    const url = new URL(path, endpoint);
    for (const [name, value] of Object.entries(more.query ?? {})) url.searchParams.set(name, value);
    url.search = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
    const body = more.body ?? new Uint8Array();
    for (let attempt = 1; ; attempt++) {
      const last = attempt === tries;
      try {
        const { host: _, ...headers } = signRequest({ method, url, body }, key, new Date());
        const response = await fetch(url, {
          method,
          headers,
          ...(method === "PUT" && { body: Buffer.from(body) }),
          signal: AbortSignal.timeout(timeoutMs),
        });
        const bytes = new Uint8Array(await response.arrayBuffer());
        if (response.ok || response.status === 404) return { status: response.status, bytes };
        if (last || !mayPass(response.status)) throw refused(place, response.status, bytes);
      } catch (error) {
        if (error instanceof StoreFailed) throw error;
        if (last) throw new StoreFailed(`The ${place} does not answer`, { cause: error });
      }
      await delay(100 * 2 ** attempt * (0.5 + Math.random()));
    }
  };

  return {
    place,
    async get(name) {
      const { status, bytes } = await send("GET", pathOf(name));
      if (status !== 404) return bytes;
      if (Buffer.from(bytes).includes("NoSuchBucket")) throw new StoreFailed(`There is no ${place}`);
      return undefined;
    },
    async put(name, body) {
      if ((await send("PUT", pathOf(name), { body })).status === 404) throw new StoreFailed(`There is no ${place}`);
    },
    has: async (name) => (await send("HEAD", pathOf(name))).status !== 404,
    async list(beginning) {
      const names: string[] = [];
      let token: string | undefined;
      do {
        const query = {
          "list-type": "2",
          prefix: `${prefix}${beginning}`,
          ...(token !== undefined && { "continuation-token": token }),
        };
        const { status, bytes } = await send("GET", bucketPath, { query });
        if (status === 404) throw new StoreFailed(`There is no ${place}`);
        const text = new TextDecoder().decode(bytes);
        for (const [, found = ""] of text.matchAll(/<Key>([^<]*)<\/Key>/g)) names.push(fromXml(found).slice(prefix.length));
        token = /<IsTruncated>true</.test(text) ? fromXml(/<NextContinuationToken>([^<]*)</.exec(text)?.[1] ?? "") : undefined;
      } while (token);
      return names.sort();
    },
    async remove(name) {
      await send("DELETE", pathOf(name));
    },
    close: async () => {},
  };
}

function mayPass(status: number): boolean {
  return status >= 500 || status === 408 || status === 409 || status === 429;
}

function refused(place: string, status: number, bytes: Uint8Array): StoreFailed {
  const code = /<Code>([\w.]+)<\/Code>/.exec(new TextDecoder().decode(bytes))?.[1];
  return new StoreFailed(`The ${place} answered ${status}${code === undefined ? "" : ` (${code})`}`);
}

function fromXml(text: string): string {
  const signs: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'" };
  return text.replace(/&(?:amp|lt|gt|quot|apos);/g, (sign) => signs[sign] ?? sign);
}
