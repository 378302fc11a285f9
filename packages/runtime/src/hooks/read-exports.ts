import { isBashName } from "../permissions/bash-names.ts";
import { modelKeys } from "../workspace/environment.ts";
import type { Workspace } from "../workspace/workspace.ts";

export type ReadExports = {
  /** Undefined where it cannot be told. */
  readonly variables: Readonly<Record<string, string>> | undefined;
  /** What of the files does not count, in words for a person. */
  readonly problems: readonly string[];
};

const timeoutMs = 10_000;
/** Together they have to fit beside everything else that a program is started with. */
const maxBytes = 64 * 1024;

/** Its environment, an empty entry, and its environment with what the files set. */
const script =
  'env -0; printf "\\0"; set -a; for outrider_file; do . "$outrider_file" > /dev/null 2>&1 < /dev/null; done; env -0';

/**
 * What files that hooks have written set, as bash understands them: `export A=b`, `declare -x`, `PATH="$PATH:…"`.
 * Bash runs them where the hooks that wrote them ran, with the same variables.
 */
export async function readExports(workspace: Workspace, files: readonly string[], signal: AbortSignal): Promise<ReadExports> {
  let printed = "";
  const decoder = new TextDecoder();
  const { end } = await workspace.run({
    ...{ unboxed: true, file: "bash", args: ["--norc", "-c", script, "bash", ...files], timeoutMs, signal },
    onOutput: ({ stream, bytes }) => {
      if (stream === "stdout") printed += decoder.decode(bytes, { stream: true });
    },
  });
  const entries = printed.split("\0");
  const middle = entries.indexOf("");
  if (end !== "exit" || entries.length < middle + 3)
    return { variables: undefined, problems: ["bash could not run it to its end"] };
  return chooseVariables(toVariables(entries.slice(0, middle)), toVariables(entries.slice(middle + 1, -1)), workspace.root);
}

function toVariables(entries: readonly string[]): Map<string, string> {
  return new Map(entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]));
}

/** Bash changes these by itself when it runs something. */
const unmeant = /^(?:_|PWD|OLDPWD|SHLVL|outrider_file)$/;

function chooseVariables(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>, root: string): ReadExports {
  const changed = [...after].filter(
    ([name, value]) => /^[A-Za-z_]\w*$/.test(name) && !unmeant.test(name) && before.get(name) !== value,
  );
  const refused = changed.map(([name]) => name).filter((name) => !mayBeExported(name));
  const problems = refused.length > 0 ? [`${refused.join(", ")} may not be set in this way`] : [];
  const kept = changed.filter(([name]) => mayBeExported(name));
  const size = kept.reduce((bytes, [name, value]) => bytes + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  if (size > maxBytes) return { variables: undefined, problems: [...problems, `it sets ${size} bytes, more than ${maxBytes}`] };
  return {
    variables: Object.fromEntries(kept.map(([name, value]) => [name, name === "PATH" ? wholePath(value, root) : value])),
    problems,
  };
}

/** What loads code into every program, what says where a program's files and its network are, and what our own parts go by. */
const guarded =
  /^(?:ENV|HOME|SHELL|USER|LOGNAME|TMPDIR|TMP|TEMP|NODE_OPTIONS|PYTHONSTARTUP|PYTHONHOME|PERL5OPT|PERL5LIB|RUBYOPT|JAVA_TOOL_OPTIONS|SSH_AUTH_SOCK|SSH_ASKPASS)$|^(?:LD_|DYLD_|GIT_|OUTRIDER|CLAUDE|ANTHROPIC_|XDG_|GCONV_|GLIBC_)|_proxy$/i;

function mayBeExported(name: string): boolean {
  return !isBashName(name) && !guarded.test(name) && !modelKeys.includes(name);
}

/** A program must not be another one in another folder: what is relative counts from the project's folder. */
function wholePath(path: string, root: string): string {
  const folders = path.split(":").filter((folder) => folder !== "");
  return folders.map((folder) => (folder.startsWith("/") ? folder : `${root}/${folder.replace(/^(?:\.\/+)+/, "")}`)).join(":");
}
