import { RuntimeError } from "@outrider/runtime";
import { OutriderClient } from "@outrider/runtime/client";
import { outriderHome } from "@outrider/runtime/host";
import { findServer, serverFolder } from "@outrider/runtime/server";
import { exitCodes } from "../../exit-codes.ts";
import { parseOwnWords, takeOwnWords } from "../../flags/words.ts";
import { print, visible } from "../../terminal/visible.ts";
import { stateOf, toOwnError } from "./attach.ts";
import { connect } from "./connect.ts";

const psUsage = `Usage:
  outrider ps [URL] [--all] [--json]   list the server's open sessions; --all: stored ones too

A session with an open question waits for you: outrider attach shows it.

Without URL, the server that runs here. Another server's token: OUTRIDER_SERVER_TOKEN.
`;

/** `outrider ps`. */
export async function runPs(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, { switches: ["--all", "--json", "--help", "-h"], values: [] });
  const [url, ...more] = words.rest;
  if (words.has("--help") || words.has("-h")) {
    await print(psUsage);
    return exitCodes.success;
  }
  if (more.length > 0 || url?.startsWith("-")) throw new RuntimeError("usage", `ps does not take ${more[0] ?? url}\n${psUsage}`);
  try {
    const client = new OutriderClient(connect(url));
    const { sessions } = await client.listSessions({ limit: 1000 });
    const listed = sessions.filter(({ state }) => words.has("--all") || state !== "stored");
    const shown = await Promise.all(
      listed.map(async (session) => ({
        ...session,
        questions: session.state === "stored" ? [] : await client.questions(session.id),
      })),
    );
    const lines = shown.map(
      ({ id, cwd, name, prompt = "", ...rest }) =>
        `${id}  ${stateOf(rest).padEnd(7)}  ${visible(cwd)}  ${visible(name ?? prompt)}\n`,
    );
    await print(words.has("--json") ? `${JSON.stringify(shown, null, 2)}\n` : lines.join("") || "No session is open\n");
    return exitCodes.success;
  } catch (error) {
    throw toOwnError(error);
  }
}

const stopUsage = `Usage:
  outrider stop                        shut the local server down: no new prompts, running ones have time to end
  outrider stop --now                  do not wait for running prompts

Waits until the server has ended.
`;

/** `outrider stop`. */
export async function runStop(args: readonly string[]): Promise<number> {
  const words = parseOwnWords(args, { switches: ["--now", "--help", "-h"], values: [], command: "stop", usage: stopUsage });
  if (words.has("--help") || words.has("-h")) {
    await print(stopUsage);
    return exitCodes.success;
  }
  const folder = serverFolder(outriderHome(process.env));
  const running = findServer(folder);
  if (!running) throw new RuntimeError("not-found", "No server runs here");
  process.kill(running.pid, "SIGTERM");
  if (words.has("--now")) process.kill(running.pid, "SIGINT"); // another one: two of the same may arrive as one
  while (findServer(folder)?.pid === running.pid) await new Promise((resolve) => setTimeout(resolve, 50));
  await print(`The server ${running.url} has ended\n`);
  return exitCodes.success;
}
