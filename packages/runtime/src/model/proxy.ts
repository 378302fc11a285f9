import { RuntimeError } from "../protocol/errors.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** The proxy a request to `url` has to go through, as HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY say. Lower case wins, as in curl. */
export function proxyFor(url: URL, env: Env): URL | undefined {
  const scheme = url.protocol === "https:" ? "https_proxy" : "http_proxy";
  const value = read(env, scheme) || read(env, "all_proxy");
  if (!value || isExempt(url, read(env, "no_proxy"))) return undefined;
  return parseProxy(value);
}

/** The header that carries the user and password of a proxy URL. */
export function proxyAuthorization(proxy: URL): Record<string, string> {
  if (!proxy.username && !proxy.password) return {};
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
}

export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

export function portOf(url: URL): number {
  if (url.port) return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

function read(env: Env, name: string): string {
  return (env[name] || env[name.toUpperCase()] || "").trim();
}

function parseProxy(value: string): URL {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const proxy = URL.canParse(text) ? new URL(text) : undefined;
  if (!proxy?.hostname) {
    throw new RuntimeError("config", "The proxy address is not a URL", { hint: "Write HTTPS_PROXY as http://host:port" });
  }
  if (proxy.protocol !== "http:" && proxy.protocol !== "https:") {
    throw new RuntimeError("config", `Proxies of the kind ${proxy.protocol}// are not supported`, {
      hint: "Write HTTPS_PROXY as http://host:port or https://host:port",
    });
  }
  return proxy;
}

function isExempt(url: URL, noProxy: string): boolean {
  const host = bareHost(url).toLowerCase().replace(/\.$/, "");
  const port = portOf(url);
  return noProxy.split(/[\s,]+/).some((entry) => entry !== "" && matches(entry.toLowerCase(), host, port));
}

function matches(entry: string, host: string, port: number): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return isInSubnet(host, entry);
  const { name, port: onlyPort } = splitPort(entry);
  if (onlyPort !== undefined && onlyPort !== port) return false;
  if (process.getBuiltinModule("node:net").isIP(host)) return isSameAddress(name, host);
  const domain = name.replace(/^\*?\./, "");
  return domain !== "" && (host === domain || host.endsWith(`.${domain}`));
}

function splitPort(entry: string): { name: string; port?: number } {
  const match = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry);
  const name = (match?.[1] ?? entry).replace(/^\[|\]$/g, "");
  return match?.[2] ? { name, port: Number(match[2]) } : { name };
}

function isSameAddress(name: string, host: string): boolean {
  const family = process.getBuiltinModule("node:net").isIP(name);
  return family !== 0 && isInSubnet(host, `${name}/${family === 6 ? 128 : 32}`);
}

function isInSubnet(host: string, cidr: string): boolean {
  const net = process.getBuiltinModule("node:net");
  const [network = "", bits = ""] = cidr.split("/");
  const family = net.isIP(network);
  const prefix = Number(bits);
  if (family === 0 || net.isIP(host) === 0) return false;
  if (!/^\d+$/.test(bits) || prefix > (family === 6 ? 128 : 32)) return false;
  const list = new net.BlockList();
  list.addSubnet(network, prefix, family === 6 ? "ipv6" : "ipv4");
  return list.check(host, net.isIP(host) === 6 ? "ipv6" : "ipv4");
}
