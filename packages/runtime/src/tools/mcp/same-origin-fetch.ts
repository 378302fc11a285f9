const maxRedirects = 3;

/** `fetch` that never carries headers, which may hold a key, to another origin than the one they were written for. */
export async function sameOriginFetch(input: string | URL, init?: RequestInit): Promise<Response> {
  let url = new URL(input);
  for (let redirects = 0; ; redirects++) {
    const response = await fetch(url, { ...init, redirect: "manual" });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    const next = new URL(location, url);
    if (next.origin !== url.origin) throw new Error(`${url.origin} sends us on to ${next.origin}, which is another origin`);
    if (redirects >= maxRedirects) throw new Error(`${url.origin} redirects more than ${maxRedirects} times`);
    url = next;
  }
}
