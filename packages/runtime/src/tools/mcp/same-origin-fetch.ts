import type { Fetch } from "./bounded-fetch.ts";

/** How long Node waits for the head of an answer, and for more of it; 0 is for ever. */
export type Patience = { readonly headersTimeout: number; readonly bodyTimeout: number };

const maxRedirects = 3;
/** Calls have limits of their own, which may be longer than the five silent minutes after which Node's `fetch` gives up. */
const patient: Patience = { headersTimeout: 0, bodyTimeout: 0 };

/** `fetch` that never carries headers, which may hold a key, to another origin than the one they were written for. */
export function createSameOriginFetch(patience: Patience = patient): Fetch {
  let sending: Promise<object> | undefined;
  return async (input, init) => {
    sending ??= dispatcherWith(patience);
    const how = await sending;
    let url = new URL(input);
    for (let redirects = 0; ; redirects++) {
      const response = await fetch(url, { ...init, ...how, redirect: "manual" });
      const location = response.headers.get("location");
      if (response.status < 300 || response.status > 399 || location === null) return response;
      await response.body?.cancel();
      const next = new URL(location, url);
      if (next.origin !== url.origin) throw new Error(`${url.origin} sends us on to ${next.origin}, which is another origin`);
      if (redirects >= maxRedirects) throw new Error(`${url.origin} redirects more than ${maxRedirects} times`);
      url = next;
    }
  };
}

/** What Node's `fetch` is to send with: the same as else, with this patience. Nothing where it sends in a way that is not known. */
async function dispatcherWith(patience: Patience): Promise<object> {
  await fetch("data:,"); // makes the one that everybody uses
  const usual: unknown = Reflect.get(globalThis, Symbol.for("undici.globalDispatcher.1"));
  const make = Object(usual).constructor;
  if (!/^(?:EnvHttpProxy)?Agent$/.test(make?.name ?? "")) return {};
  return { dispatcher: new make(patience) };
}
