import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { bin, launcher, lines, model, type Run, run, tempFolder } from "./command.ts";

export const key: string = "sk-ant-zyxwvutsrq9876543210zyx";
const secrets = {
  ANTHROPIC_API_KEY: key,
  GH_TOKEN: "ghp_0123456789abcdefghijABCDEFGHIJ012345",
  AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  NPM_TOKEN: "npm_0123456789abcdefghijABCDEFGHIJ012345",
  SSH_AUTH_SOCK: "/run/user/1000/agent",
  DATABASE_URL: "postgres://app:hunter2@db.example.com/app",
  PLAIN: "plain",
  TMPDIR: "/var/tmp",
};

export type Told = {
  run: Run;
  /** Of the one call. */
  result: string;
  init: Record<string, unknown>;
  last: Record<string, unknown>;
  system: string;
};

/** One call of Bash, as the built command makes it. */
export async function call(
  command: string,
  args: readonly string[],
  { env = {}, through, input = {}, settings }: Options = {},
): Promise<Told> {
  const cwd = tempFolder("places");
  const home = tempFolder("places-home");
  if (settings) {
    mkdirSync(join(cwd, ".claude"));
    writeFileSync(join(cwd, ".claude/settings.json"), JSON.stringify(settings));
  }
  writeFileSync(join(cwd, "a.txt"), "a\n");
  const { server, env: modelEnv } = await model(
    [{ calls: [{ name: "Bash", input: { command, ...input } }] }, { text: "done" }],
    home,
  );
  const flags = ["-p", "go", "--output-format", "stream-json", "--cwd", cwd, ...args];
  const wanted = { ...modelEnv, ...secrets, ...env };
  const ended = through ? await through([launcher, bin, ...flags], wanted) : await run(flags, { env: wanted, cwd });
  const frames = ended.stdout.startsWith("{") ? lines(ended.stdout) : [];
  const first = server.requests[0]?.body as { system?: unknown } | undefined;
  const second = server.requests[1]?.body as { messages?: unknown[] } | undefined;
  return {
    run: ended,
    result: resultIn(second?.messages ?? []),
    init: frames.find(({ subtype }) => subtype === "init") ?? {},
    last: frames.find(({ type }) => type === "result") ?? {},
    system: JSON.stringify(first?.system ?? ""),
  };
}

export type Options = {
  env?: Record<string, string>;
  through?: (words: readonly string[], env: Record<string, string>) => Promise<Run>;
  input?: Record<string, unknown>;
  settings?: object;
};

function resultIn(messages: readonly unknown[]): string {
  const last = messages.at(-1) as { content?: { type: string; content?: unknown }[] } | undefined;
  const content = last?.content?.find(({ type }) => type === "tool_result")?.content;
  return typeof content === "string"
    ? content
    : ((content as { text: string }[] | undefined) ?? []).map(({ text }) => text).join("\n");
}

/** In a container that lets nobody make user namespaces: bubblewrap is installed and does not work. */
export const withoutNamespaces: NonNullable<Options["through"]> = (words, env) => runIn(["--disable-userns"], words, env);

/** Where bubblewrap is a file that cannot be run. */
export const withoutBubblewrap: NonNullable<Options["through"]> = (words, env) =>
  runIn(["--ro-bind", "/dev/null", realpathSync("/usr/bin/bwrap")], words, env);

async function runIn(options: readonly string[], words: readonly string[], env: Record<string, string>): Promise<Run> {
  const box = ["--unshare-user", "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", ...options, "--"];
  const child = spawn("bwrap", [...box, ...words], {
    env: { PATH: process.env["PATH"] ?? "", HOME: tempFolder("places-user"), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  return { code, signal, stdout, stderr, ms: 0 };
}

/** The box has a folder of its own for temporary files, and says so. */
export const where: string = 'echo "place:$TMPDIR:"';
export function placeOf({ result }: Told): string {
  const [, folder] = /^place:(.*?):/.exec(result) ?? [];
  return folder === undefined ? "not run" : folder === "/tmp" ? "box" : "outside";
}
