import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { bin, launcher, tempFolder } from "./command.ts";

export const hasTmux: boolean = spawnSync("tmux", ["-V"]).status === 0;
/** What was on the screens, for whoever wants to look at them. */
const screens = join(tmpdir(), "outrider-screens");

export type Terminal = {
  tmux(...words: string[]): string;
  /** Keys as tmux names them, or words. */
  press(...keys: string[]): void;
  /** Letter for letter. */
  type(text: string): void;
  screen(): string;
  /** With its colours; ESC is shown as ␛. */
  painted(): string;
  /** The screen as soon as it shows this; fails when it never does. */
  wait(what: RegExp): Promise<string>;
  /** Keeps the screen for people. */
  keep(name: string): string;
  /** The terminal goes away, as when somebody closes its window. */
  vanish(): void;
};

/** The command on a terminal of its own; what follows it says `exit N`. */
export function openTerminal(
  args: readonly string[],
  {
    cwd,
    home,
    columns = 100,
    rows = 40,
    env = {},
  }: { cwd: string; home: string; columns?: number; rows?: number; env?: Record<string, string> },
): Terminal {
  const folder = tempFolder("tmux");
  const socket = join(folder, "tmux");
  const environment = {
    HOME: folder,
    OUTRIDER_HOME: home,
    PATH: process.env["PATH"] ?? "",
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
  };
  const tmux = (...words: string[]): string =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...words], { encoding: "utf8", env: environment });
  const set = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  const command = ["env", ...set, launcher, bin, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  tmux("-u", "new-session", "-d", "-x", String(columns), "-y", String(rows), "sleep 600");
  const server = Number(tmux("display-message", "-p", "#{pid}"));
  let isThere = true;
  const vanish = (): void => {
    if (isThere) process.kill(server); // by its number: its folder, and the socket in it, may be gone before
    isThere = false;
  };
  after(vanish);
  tmux("respawn-pane", "-k", `cd '${cwd}' && ${command}; echo "exit $?"; sleep 600`);
  const screen = (): string => tmux("capture-pane", "-p");
  return {
    tmux,
    vanish,
    press: (...keys) => void tmux("send-keys", ...keys),
    type: (text) => void tmux("send-keys", "-l", text),
    screen,
    painted: () => tmux("capture-pane", "-p", "-e").replaceAll("\x1b", "␛"),
    async wait(what) {
      for (let tries = 0; tries < 600; tries++) {
        if (what.test(screen())) return screen();
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error(`${what} never stood on the screen:\n${screen()}`);
    },
    keep(name) {
      mkdirSync(screens, { recursive: true });
      writeFileSync(join(screens, `${name}.txt`), screen());
      return screen();
    },
  };
}
