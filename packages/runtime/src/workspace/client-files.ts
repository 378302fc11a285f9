import { posix } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import { type SandboxClient, shellWord } from "./sandbox-client.ts";
import type { DirectoryEntry, FileStat } from "./workspace.ts";

const timeoutMs = 60_000;

export type ClientFiles = {
  home(): Promise<string>;
  realPath(path: string): Promise<string>;
  stat(path: string): Promise<FileStat | undefined>;
  readDirectory(path: string): Promise<DirectoryEntry[]>;
  makeDirectory(path: string): Promise<void>;
};

/** What a client does not do itself, done with the programs every Linux image has. */
export function clientFiles(client: SandboxClient): ClientFiles {
  const ask = async (command: string): Promise<string | undefined> => {
    const { exitCode, stdout } = await client.run(command, { timeoutMs });
    return exitCode === 0 ? stdout : undefined;
  };
  return {
    async home() {
      const home = client.stat ? undefined : (await ask('printf %s "$HOME"'))?.trim();
      return home?.startsWith("/") ? home : "/root";
    },
    /** A client that looks at files itself knows no links. */
    async realPath(path) {
      if (client.stat) return posix.normalize(path);
      const word = shellWord(path);
      const answer = await ask(`realpath -m -- ${word} 2>/dev/null || readlink -f -- ${word}`);
      return answer?.startsWith("/") ? answer.replace(/\n$/, "") : posix.normalize(path);
    },
    async stat(path) {
      if (client.stat) return client.stat(path);
      const answer = await ask(`stat -L -c '%f %s %Y %y' -- ${shellWord(path)} 2>/dev/null`);
      return answer === undefined ? undefined : parseStat(answer);
    },
    async readDirectory(path) {
      if (client.readDirectory) return client.readDirectory(path);
      const answer = await ask(`cd -- ${shellWord(path)} && ${listing}`);
      if (answer === undefined) throw new RuntimeError("usage", `${path} could not be listed.`);
      return parseListing(answer);
    },
    async makeDirectory(path) {
      if (client.makeDirectory) return client.makeDirectory(path);
      if ((await ask(`mkdir -p -- ${shellWord(path)}`)) === undefined)
        throw new RuntimeError("usage", `The directory ${path} could not be made.`);
    },
  };
}

/** A letter for the kind, the name, and a slash, which no name can hold. */
const listing = [
  "for name in * .[!.]* ..?*; do",
  '[ -L "$name" ] && kind=l || { [ -f "$name" ] && kind=f; } || { [ -d "$name" ] && kind=d; } || { [ -e "$name" ] && kind=o; } || continue;',
  'printf "%s%s/" "$kind" "$name"; done',
].join(" ");

const kinds: Readonly<Record<string, DirectoryEntry["kind"]>> = { l: "symlink", f: "file", d: "directory", o: "other" };

function parseListing(text: string): DirectoryEntry[] {
  const entries = text.split("/").flatMap((part): DirectoryEntry[] => {
    const kind = kinds[part.slice(0, 1)];
    return kind === undefined ? [] : [{ kind, name: part.slice(1) }];
  });
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Mode in hexadecimal, size, seconds, and the same time written out, for its fraction. */
function parseStat(text: string): FileStat | undefined {
  const [, mode = "", size = "", seconds = "", written = ""] = /^([0-9a-f]+) (\d+) (\d+) (.*)/.exec(text) ?? [];
  if (mode === "") return undefined;
  const bits = Number.parseInt(mode, 16);
  const fraction = Number(`0${/\.\d+/.exec(written)?.[0] ?? ""}`);
  return { kind: kindOf(bits), size: Number(size), mtimeMs: Number(seconds) * 1000 + Math.floor(fraction * 1000), mode: bits };
}

function kindOf(mode: number): FileStat["kind"] {
  const type = mode & 0o170000;
  if (type === 0o100000) return "file";
  return type === 0o040000 ? "directory" : "other";
}
