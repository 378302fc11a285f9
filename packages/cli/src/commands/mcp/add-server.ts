import { RuntimeError } from "@outrider/runtime";
import { forgetServer, type ServerScope, saveServer, serverFiles, writtenServers } from "@outrider/runtime/admin";
import { exitCodes } from "../../exit-codes.ts";
import { lookAtProject, type Project } from "../../request/project.ts";
import { print, visible } from "../../terminal/visible.ts";
import { readServerWords, type ServerWords } from "./server-words.ts";

type Server = { [key: string]: string | string[] | Record<string, string | number> };

export async function addServer(args: readonly string[], usage: string): Promise<number> {
  const words = readServerWords(args, { usage, isOpen: true });
  const [name, target, ...rest] = words.positionals;
  if (name === undefined || target === undefined)
    throw new RuntimeError("usage", `mcp add needs a name, and a command or an address\n${usage}`);
  return await save(words, name, toServer(target, rest, words));
}

export async function addServerJson(args: readonly string[], usage: string): Promise<number> {
  const words = readServerWords(args, { usage, isOpen: false });
  const [name, json, ...more] = words.positionals;
  if (name === undefined || json === undefined || more.length > 0)
    throw new RuntimeError("usage", `mcp add-json needs a name and one JSON text\n${usage}`);
  return await save(words, name, parseServer(json));
}

export async function removeServer(args: readonly string[], usage: string): Promise<number> {
  const words = readServerWords(args, { usage, isOpen: false });
  const [name, ...more] = words.positionals;
  if (name === undefined || more.length > 0) throw new RuntimeError("usage", `mcp remove needs one name\n${usage}`);
  const project = await lookAtProject({ cwd: words.cwd });
  const written = writtenServers(project).filter((server) => server.name === name);
  const [only, ...others] = words.scope ? written.filter(({ scope }) => scope === words.scope) : written;
  if (!only)
    throw new RuntimeError(
      "not-found",
      `There is no server ${JSON.stringify(name)}${words.scope ? ` of scope ${words.scope}` : ""}`,
      { hint: "See outrider mcp list" },
    );
  if (others.length > 0) {
    const scopes = written.map(({ scope }) => scope).join(" and ");
    throw new RuntimeError("usage", `${name} is written down for ${scopes}: say which with --scope`);
  }
  if (only.scope === undefined) throw new RuntimeError("usage", `${name} is written down in ${only.file}: take it out there`);
  const path = await forgetServer(project, { scope: only.scope, name });
  await print(`Removed the server ${visible(name)} from ${visible(path ?? only.file)}\n`);
  return exitCodes.success;
}

async function save(words: ServerWords, name: string, server: Server): Promise<number> {
  if (!/^[\w-]{1,64}$/.test(name))
    throw new RuntimeError(
      "usage",
      `${JSON.stringify(name)} cannot be a server's name: letters, digits, - and _ only, at most 64`,
    );
  const { scope = "user", force } = words;
  const project = await lookAtProject({ cwd: words.cwd });
  const there = writtenServers(project).find((one) => one.name === name && one.scope === scope);
  if (there && !force) {
    throw new RuntimeError("usage", `There is a server ${JSON.stringify(name)} in ${there.file} already`, {
      hint: "--force replaces it",
    });
  }
  const path = await saveServer(project, { scope, name, server, env: standIns(server) });
  await print(`${there ? "Replaced" : "Wrote"} the server ${visible(name)} in ${visible(path)}\n${next(project, scope, name)}`);
  return exitCodes.success;
}

function next({ trust, ...project }: Project, scope: ServerScope, name: string): string {
  const isTrusted = trust.trusted;
  if (scope === "user") return `Try it: outrider mcp test ${name}\n`;
  const file = scope === "project" ? ".mcp.json" : serverFiles(project).local;
  return `${isTrusted ? "The project has changed, so it has to be trusted again" : "It starts when the project is trusted"}: outrider trust (${visible(file)} counts)\n`;
}

function toServer(target: string, rest: readonly string[], words: ServerWords): Server {
  const { transport, env, headers } = words;
  const oauth = toOAuth(words);
  const isAddress = /^https?:\/\//i.test(target);
  if (!isAddress && /^[a-z][a-z0-9+.-]*:\/\//i.test(target))
    throw new RuntimeError(
      "usage",
      `${target.split("://")[0]}:// is no way to reach a server: an address begins with http:// or https://`,
    );
  const type = transport ?? (isAddress ? "http" : "stdio");
  if (type === "stdio") {
    if (isAddress) throw new RuntimeError("usage", `${target} is an address: --transport http or sse`);
    if (headers.length > 0) throw new RuntimeError("usage", "--header is for servers on the network; a program gets --env");
    if (oauth) throw new RuntimeError("usage", "A login (--client-id, --scopes, …) is for servers on the network");
    return { type, command: target, args: [...rest], ...(env.length > 0 && { env: pairs("--env", env, "=") }) };
  }
  if (type !== "http" && type !== "sse")
    throw new RuntimeError("usage", `--transport cannot be ${JSON.stringify(type)}. Choose from: stdio, http, sse`);
  if (!isAddress)
    throw new RuntimeError(
      "usage",
      `A server of transport ${type} needs an http or https address, not ${JSON.stringify(target)}`,
    );
  if (rest.length > 0) throw new RuntimeError("usage", `An address takes no words behind it: ${rest.join(" ")}`);
  if (env.length > 0) throw new RuntimeError("usage", "--env is for servers that are programs; one on the network gets --header");
  return { type, url: target, ...(headers.length > 0 && { headers: pairs("--header", headers, ":") }), ...(oauth && { oauth }) };
}

/** How to log in to it, where it cannot say so itself. */
function toOAuth({ clientId, clientSecret, callbackPort, scopes }: ServerWords): Record<string, string | number> | undefined {
  if (callbackPort !== undefined && !/^\d+$/.test(callbackPort))
    throw new RuntimeError("usage", `--callback-port needs a number, not ${JSON.stringify(callbackPort)}`);
  const oauth = {
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
    ...(callbackPort !== undefined && { callbackPort: Number(callbackPort) }),
    ...(scopes !== undefined && { scopes }),
  };
  return Object.keys(oauth).length === 0 ? undefined : oauth;
}

function pairs(flag: string, texts: readonly string[], sign: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(sign);
      // Not repeated: it may be a key.
      if (at <= 0) throw new RuntimeError("usage", `${flag} takes NAME${sign === ":" ? ": " : sign}VALUE`);
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    }),
  );
}

function parseServer(json: string): Server {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Server; // its parts are checked when it is saved
  } catch {
    // said below, without the text: it may hold a key
  }
  throw new RuntimeError("usage", 'mcp add-json needs a JSON object, such as \'{"command":"npx","args":["-y","some-server"]}\'');
}

/** A variable that is not set now may be set when the server starts. */
function standIns(server: Server): Record<string, string> {
  const names = [...JSON.stringify(server).matchAll(/\$\{([A-Za-z_]\w*)/g)].map(([, name]) => name ?? "");
  return Object.fromEntries(names.map((name) => [name, process.env[name] ?? "to-be-set"]));
}
