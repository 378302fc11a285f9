import { RuntimeError } from "@outrider/runtime";
import { logIn, logOut, openLoopback, personBehind } from "@outrider/runtime/admin";
import type { McpServerConfig } from "@outrider/runtime/mcp";
import { exitCodes } from "../../exit-codes.ts";
import { print, visible } from "../../terminal/visible.ts";
import { type KnownServers, knownServers } from "./known-servers.ts";
import { openBrowser } from "./open-browser.ts";
import { readServerWords } from "./server-words.ts";
import { refuseUnknown, tryServers } from "./test-servers.ts";

type HttpConfig = Extract<McpServerConfig, { type: "http" | "sse" }>;

export async function loginServer(args: readonly string[], usage: string): Promise<number> {
  const words = readServerWords(args, { usage, isOpen: false });
  const { known, name, config } = await findServer(words, { usage, action: "login" });
  const isProgram = config.oauth?.grant !== undefined;
  if (!isProgram) await askPerson(config, { known, ...words });
  const [tried] = await tryServers(known, [name]);
  if (tried?.status !== "connected") {
    await print(
      `${visible(name)}  ${isProgram ? "" : "logged in, but "}${tried?.status}: ${visible(tried?.error ?? "no reason given")}\n`,
    );
    return exitCodes.error;
  }
  await print(`Logged in to ${visible(name)}: ${tried.tools.length} ${tried.tools.length === 1 ? "tool" : "tools"}\n`);
  return exitCodes.success;
}

export async function logoutServer(args: readonly string[], usage: string): Promise<number> {
  const words = readServerWords(args, { usage, isOpen: false });
  const { known, name, config } = await findServer(words, { usage, action: "logout" });
  const wasIn = await logOut(config, known.plan.loginFolder);
  await print(wasIn ? `The login to ${visible(name)} is forgotten\n` : `Nobody was logged in to ${visible(name)}\n`);
  return exitCodes.success;
}

type Asking = { readonly known: KnownServers; readonly scopes: string | undefined; readonly browser: boolean };

async function askPerson(config: HttpConfig, { known, scopes, browser }: Asking): Promise<void> {
  const loopback = await openLoopback(config.oauth?.callbackPort);
  const reading = new AbortController();
  const show = async (url: URL): Promise<URL | undefined> => {
    process.stderr.write(`Log in here:\n${visible(url.href)}\n`);
    if (browser) await openBrowser(url);
    return process.stdin.isTTY ? await readAddress(reading.signal) : undefined;
  };
  try {
    const person = personBehind(loopback, show);
    await logIn(config, { loginFolder: known.plan.loginFolder, person, scopes });
  } catch (error) {
    throw new RuntimeError(
      "config",
      `The login did not work: ${visible(error instanceof Error ? error.message : String(error))}`,
      {
        cause: error,
        hint: "A server that gives out tokens itself takes one in a header: outrider mcp add NAME URL --header 'Authorization: Bearer …'",
      },
    );
  } finally {
    reading.abort();
    await loopback.close();
  }
}

/** For a browser on another machine, whose last address leads nowhere there. */
async function readAddress(signal: AbortSignal): Promise<URL | undefined> {
  process.stderr.write("If the browser is on another machine, paste the address that it ends at:\n");
  const { createInterface } = process.getBuiltinModule("node:readline/promises");
  const lines = createInterface({ input: process.stdin });
  try {
    const line = await lines.question("", { signal });
    return URL.canParse(line.trim()) ? new URL(line.trim()) : undefined;
  } catch {
    return undefined; // the browser was faster
  } finally {
    lines.close();
  }
}

async function findServer(
  { positionals, cwd }: ReturnType<typeof readServerWords>,
  { usage, action }: { readonly usage: string; readonly action: string },
): Promise<{ known: KnownServers; name: string; config: HttpConfig }> {
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new RuntimeError("usage", `mcp ${action} needs one name\n${usage}`);
  const known = await knownServers(cwd);
  refuseUnknown(name, known);
  const config = known.plan.configs.get(name);
  if (config?.type === "http" || config?.type === "sse") return { known, name, config };
  throw new RuntimeError("usage", `${name} is not reached over HTTP, so nobody logs in to it`);
}
