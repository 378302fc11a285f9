import { dirname, join } from "node:path";
import { inertConfig, inertDrivers, inertUnset, inertVariables } from "./inert-git-config.ts";
import type { Workspace } from "./workspace.ts";

/** From this version on git takes configuration from its environment. */
const leastVersion = [2, 31];
const timeoutMs = 10_000;

/**
 * A folder with a `git` that starts no program a repository names, for the front of PATH: whatever a command starts as `git`
 * is then this one, in a pipeline, below `xargs` or in `$(…)` alike. Undefined where there is no git that can be told so.
 */
export async function installInertGit(workspace: Workspace): Promise<string | undefined> {
  const note = await workspace.saveOverflow("git-place", "").catch(() => undefined);
  if (note === undefined) return undefined;
  const folder = join(dirname(note), "inert-git");
  if (folder.includes(":")) return undefined; // cannot stand in PATH
  let said = "";
  const install = 'rm -f -- "$2" && mkdir -p -- "$1" && cat > "$1/git" && chmod 755 -- "$1/git" && "$1/git" --version';
  try {
    const result = await workspace.run({
      file: "sh",
      args: ["-c", install, "sh", folder, note],
      cwd: "/",
      input: inertGitScript,
      timeoutMs,
      signal: new AbortController().signal,
      unboxed: true,
      onOutput: ({ stream, bytes }) => {
        if (stream === "stdout") said += Buffer.from(bytes).toString("utf8");
      },
    });
    return result.end === "exit" && result.exitCode === 0 && isNewEnough(said) ? folder : undefined;
  } catch {
    return undefined; // no shell: no command will run either
  }
}

function isNewEnough(said: string): boolean {
  const [, major = "", minor = ""] = /^git version (\d+)\.(\d+)/.exec(said) ?? [];
  const [leastMajor = 0, leastMinor = 0] = leastVersion;
  return Number(major) > leastMajor || (Number(major) === leastMajor && Number(minor) >= leastMinor);
}

/** A git of our own that only looks, as a program to start: nothing has to be installed for it. */
export function inertGit(words: readonly string[]): { readonly file: string; readonly args: readonly string[] } {
  return { file: "sh", args: ["-c", inertGitScript, "git", ...words] };
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const lastParts = Object.keys(inertDrivers);

/**
 * Drivers have names nobody knows beforehand, so git itself is asked which there are: in the same folder, at the moment it is used.
 * Submodules are compared by their commit only, because git would start itself in them, with a configuration that was not asked for.
 * Standard input is closed, since a configuration can include /dev/stdin. A repository may be kept elsewhere only if that place knows
 * of it, and may list only files below its own top: else looking at it would show what lies outside the project.
 */
export const inertGitScript: string = `#!/bin/sh
# Written by outrider: git that starts no program a repository names.
refuse() { printf '%s\\n' "outrider: git was not run: $1" >&2; exit 128; }
unset ${inertUnset.join(" ")}
${Object.entries(inertVariables)
  .map(([name, value]) => `export ${name}=${quoted(value)}`)
  .join("\n")}
own=\${0%/*}
case $PATH in "$own":*) PATH=\${PATH#"$own":} ;; esac
export PATH

place= subcommand= literal= expected= words=0
for word do
  words=$((words + 1))
  if [ "$expected" ]; then place=$word expected=; continue; fi
  case $word in
    -C) [ "$place" ] && refuse "it was given two folders"; expected=1 ;;
    --no-pager | -P | --no-optional-locks) ;;
    --literal-pathspecs) literal=$word ;;
    --version | -v | --help | -h) [ "$#" -eq 1 ] && exec git "$word" < /dev/null; refuse "$word needs permission" ;;
    -*) refuse "$word needs permission" ;;
    *) subcommand=$word; break ;;
  esac
done
shift "$words"
cd -P -- "\${place:-.}" || exit 128

count=\${GIT_CONFIG_COUNT:-0}
case $count in *[!0-9]*) count=0 ;; esac
say() {
  export "GIT_CONFIG_KEY_$count=$1" "GIT_CONFIG_VALUE_$count=$2"
  count=$((count + 1))
}
${inertConfig.map(([key, value]) => `say ${quoted(key)} ${quoted(value)}`).join("\n")}
export GIT_CONFIG_COUNT="$count"

# The folder with the next .git, from $1 upwards.
next() {
  top=\${1:-/}
  until [ -e "$top/.git" ] || [ -L "$top/.git" ] || [ "$top" = / ]; do top=\${top%/*} top=\${top:-/}; done
}
belongs() {
  found=$top
  for name in config objects objects/pack refs packed-refs index; do
    [ -L "$found/.git/$name" ] && refuse "$found/.git/$name is a link"
  done
  [ -d "$found/.git" ] && [ ! -L "$found/.git" ] && [ ! -e "$found/.git/commondir" ] && return
  places=$(git rev-parse --path-format=absolute --git-dir --git-common-dir < /dev/null) || exit 128
  kept=\${places%%"$newline"*} common=\${places#*"$newline"}
  case "$common/" in "$found"/*) return ;; esac
  while [ "$top" != / ]; do
    next "\${top%/*}"
    if [ -d "$top/.git" ] && [ ! -L "$top/.git" ]; then case "$kept/" in "$top/.git/"*) return ;; esac; fi
  done
  if [ "$kept" = "$common/worktrees/\${kept##*/}" ]; then
    back=
    IFS= read -r back < "$kept/gitdir"
    case $back in ?*/.git) back=$(cd -P -- "$kept" && cd -P -- "\${back%/.git}" && pwd) ;; esac
    [ "$back" = "$found" ] && return
  fi
  refuse "$found is kept in $common, which does not know of it"
}
newline='
'
next "$PWD"
if [ ! "\${GIT_DIR-}" ] && { [ -e "$top/.git" ] || [ -L "$top/.git" ]; }; then belongs; else found=; fi

keys=$(git config --name-only --get-regexp '^core[.]worktree$|[.](${lastParts.join("|")})$' < /dev/null)
status=$?
[ "$status" -le 1 ] || exit "$status"
set -f
IFS=$newline
for key in $keys; do
  case $key in
    core.worktree)
      top=$(git rev-parse --show-toplevel < /dev/null) || exit 128
      [ ! "$found" ] || [ "$top" = "$found" ] || refuse "its repository says that the files are in $top"
      ;;
    filter.*) say "$key" ''; say "\${key%.*}.required" false ;;
    hook.*) say "$key" true ;;
${lastParts.map((part) => `    *.${part}) say "$key" ${quoted(inertDrivers[part] ?? "")} ;;`).join("\n")}
  esac
done
unset IFS
export GIT_CONFIG_COUNT="$count"

case $subcommand in
  status | diff | grep)
    if [ "$found" ] && git -C "$found" ls-files < /dev/null | grep -qE '^"?/|(^"?|/)[.][.](/|"?$)'; then
      refuse "its index names files outside of $found"
    fi
    ;;
esac
case $subcommand in
  status) set -- --ignore-submodules=dirty "$@" ;;
  diff) set -- --no-ext-diff --ignore-submodules=dirty "$@" ;;
  ls-remote) export GIT_ALLOW_PROTOCOL=http:https ;;
esac
exec git \${literal:+"$literal"} \${subcommand:+"$subcommand"} "$@" < /dev/null
`;
