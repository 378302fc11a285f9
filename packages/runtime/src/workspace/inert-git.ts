import { dirname, join } from "node:path";
import { inertConfig, inertDrivers, inertFiles, inertUnset, inertVariables } from "./inert-git-config.ts";
import type { Workspace } from "./workspace.ts";

/** From this version on git follows no link that is called .gitignore, .gitattributes or .mailmap; it takes configuration from its environment. */
const leastVersion = [2, 32];
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
  const install =
    'command -v find > /dev/null && rm -f -- "$2" && mkdir -p -- "$1" && cat > "$1/git" && chmod 755 -- "$1/git" && "$1/git" --version';
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
/** Folders of a repository in which nothing that looks reads: it starts no hooks and no git in submodules; the others are not git's. */
const unread = ["hooks", "modules", "lfs", "annex"];
const asked = [
  "^core[.]worktree$",
  "^include(if[.].*)?[.]path$",
  `^(${inertFiles.join("|").replaceAll(".", "[.]")})$`,
  `[.](${lastParts.join("|")})$`,
].join("|");

/** A name that a shell or `xargs` takes apart or for a pattern, or a program for an option. */
const oddLine = String.raw`[[:space:]"'\\*?[]|[+@!][(]|(^|/)[-~]`;
/** Fails at an odd name that nobody finds who looks through the folders: what is done with names relies on that look. */
const unseenScript = String.raw`for name do
  case $name in
    *[[:space:]]* | *[[:cntrl:]]* | *\"* | *\'* | *\\* | *\** | *\?* | *\[* | *[+@!]\(* | [-~]* | */[-~]*) ;;
    *) continue ;;
  esac
  path=./$name
  if [ -e "$path" ] || [ -L "$path" ]; then
    while path=${"$"}{path%/*} && [ "$path" != . ] && [ ! -L "$path" ] && [ -r "$path" ]; do :; done
    [ "$path" != . ] || continue
  fi
  printf "%s" "$name"
  exit 255
done`;

/** Fails at a name behind a link: git opens such files where the link leads. Names come sorted, so that each folder is looked at once. */
const behindScript = `last=
for name do
  path=./$name path=${"$"}{path%/*}
  [ "$path" != "$last" ] || continue
  last=$path
  while [ "$path" != . ]; do
    if [ -L "$path" ]; then printf "%s" "${"$"}{path#./}"; exit 255; fi
    path=${"$"}{path%/*}
  done
done`;

/**
 * Drivers have names nobody knows beforehand, so git itself is asked which there are: in the same folder, at the moment it is used.
 * Submodules are compared by their commit only, because git would start itself in them, with a configuration that was not asked for.
 * Standard input is closed, since a configuration can include /dev/stdin. Looking must not show what lies outside the project: a
 * repository may be kept elsewhere only if that place knows of it, has no links, borrows objects and includes configuration only from
 * around itself, and lists only files below its own top. Names that `ls-files` and `diff --name-only` print become words of other
 * programs: those of files that are not there must be harmless ones, because nobody else has seen them. Where git opens files by the names in its index,
 * none of these may lead through a link.
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

place= subcommand= literal= expected= includes= seen= named= words=0
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

newline='
'
tab='	'
# The folder with the next .git, from $1 upwards; one that is itself a repository on the way.
next() {
  top=\${1:-/} bare=
  until [ -e "$top/.git" ] || [ -L "$top/.git" ] || [ "$top" = / ]; do
    [ -e "$top/HEAD" ] && { [ -e "$top/objects" ] || [ -e "$top/commondir" ]; } && bare=$top
    top=\${top%/*} top=\${top:-/}
  done
}
# Where the repository is kept, and the folder that it may show.
belongs() {
  found=$top around=$top kept=$top/.git common=$top/.git
  [ -d "$kept" ] && [ ! -L "$kept" ] && [ ! -e "$kept/commondir" ] && return
  places=$(git rev-parse --path-format=absolute --git-dir --git-common-dir < /dev/null 2> /dev/null) ||
    refuse "$found/.git does not lead to a repository"
  kept=\${places%%"$newline"*} common=\${places#*"$newline"}
  case "$common/" in "$found"/*) return ;; esac
  while [ "$top" != / ]; do
    next "\${top%/*}"
    if [ -d "$top/.git" ] && [ ! -L "$top/.git" ]; then case "$kept/" in "$top/.git/"*) around=$top; return ;; esac; fi
  done
  if [ "$kept" = "$common/worktrees/\${kept##*/}" ]; then
    back=
    IFS= read -r back < "$kept/gitdir"
    case $back in ?*/.git) back=$(cd -P -- "$kept" && cd -P -- "\${back%/.git}" && pwd) ;; esac
    case $common in */.git) around=\${common%/.git} ;; *) around=$common ;; esac
    [ "$back" = "$found" ] && return
  fi
  refuse "$found is kept in $common, which does not know of it"
}
# Refuses links in $1, except where nothing that looks reads: hooks, submodules and what other programs keep there.
unlinked() {
  links=$(cd -P -- "$1" && exec find . -type l ! -path ./hooks -print -o -type d \\( ${unread.map((name) => `-path ./${name}`).join(" -o ")} \\) -prune 2> /dev/null)
  [ "$?" -le 1 ] || refuse "its folder could not be searched for links"
  links=\${links%%"$newline"*}
  [ ! "$links" ] || refuse "$1/\${links#./} is a link"
}
# Whether the folder $1 is one that the repository may show.
inside() {
  real=$(cd -P -- "$1" 2> /dev/null && pwd) || return 1
  case "$real/" in "$found"/* | "$around"/* | "$common"/*) return 0 ;; esac
  return 1
}
unborrowed() {
  [ -e "$common/objects/info/alternates" ] || return
  while IFS= read -r line || [ "$line" ]; do
    case $line in '' | '#'*) continue ;; /*) ;; *) line=$common/objects/$line ;; esac
    inside "$line" || refuse "it borrows objects from $line"
    [ ! -e "$real/info/alternates" ] || refuse "it borrows objects from $line, which borrows them itself"
    unlinked "$real"
  done < "$common/objects/info/alternates"
}
next "$PWD"
found=
if [ ! "\${GIT_DIR-}" ]; then
  [ ! "$bare" ] || refuse "$bare is a bare repository, or the inside of one"
  if [ -e "$top/.git" ] || [ -L "$top/.git" ]; then
    belongs
    unlinked "$common"
    case "$kept/" in "$common"/*) ;; *) unlinked "$kept" ;; esac
    unborrowed
  fi
fi

keys=$(git config --show-scope --name-only --get-regexp '${asked}' < /dev/null 2> /dev/null)
[ "$?" -le 1 ] || refuse "its configuration cannot be read"
set -f
IFS=$newline
for entry in $keys; do
  key=\${entry#*"$tab"} scope=\${entry%%"$tab"*}
  case $key in
    core.worktree)
      top=$(git rev-parse --show-toplevel < /dev/null) || exit 128
      [ ! "$found" ] || [ "$top" = "$found" ] || refuse "its repository says that the files are in $top"
      ;;
    ${inertFiles.join(" | ")}) case $scope in local | worktree) say "$key" /dev/null ;; esac ;;
    include.path | includeif.*.path) case $scope in local | worktree) includes=1 ;; esac ;;
    filter.*) say "$key" ''; say "\${key%.*}.required" false ;;
    hook.*) say "$key" true ;;
${lastParts.map((part) => `    *.${part}) say "$key" ${quoted(inertDrivers[part] ?? "")} ;;`).join("\n")}
  esac
done
if [ "$includes" ] && [ "$found" ]; then
  for entry in $(git config --show-scope --show-origin --name-only --list < /dev/null | sort -u); do
    case $entry in "local$tab"* | "worktree$tab"*) ;; *) continue ;; esac
    file=\${entry#*"$tab"} file=\${file%"$tab"*}
    [ "$file" = "$seen" ] && continue
    seen=$file
    case $file in file:/*) file=\${file#file:} ;; file:*) file=$found/\${file#file:} ;; *) refuse "its configuration includes $file" ;; esac
    { [ ! -L "$file" ] && inside "\${file%/*}"; } || refuse "its configuration includes $file"
  done
fi
unset IFS
export GIT_CONFIG_COUNT="$count"

from=\${found:-.}
# Whether the index has a name that fits $1. Names with quotes, backslashes and control characters begin with a quote.
indexed() { git -C "$from" -c core.quotePath=false ls-files < /dev/null | LC_ALL=C grep -qE "$1"; }
outside='^"?/|(^"?|/)[.][.](/|"?$)'
case $subcommand in
  status | diff | grep) [ ! "$found" ] || ! indexed "$outside" || refuse "its index names files outside of $found" ;;
  ls-files)
    if indexed "$outside|"${quoted(oddLine)}; then
      ! indexed "$outside" || refuse "its index names files outside of $found"
      unseen=$(cd -P -- "$from" && git ls-files -z < /dev/null | xargs -0 sh -c ${quoted(unseenScript)} sh 2> /dev/null) ||
        refuse "its index names a file that is not there, and other programs would take that name apart: $unseen"
    fi
    ;;
esac
case $subcommand in
  diff) for word do case $word in --) break ;; --name-only) named=1 ;; esac; done ;;
esac
if [ "$named" ] && [ "$found" ]; then
  # Below the top, nobody has looked at the folders that names from elsewhere would be in.
  odd=$outside
  [ "$PWD" = "$found" ] || odd="$outside|"${quoted(oddLine)}
  ! git diff --no-ext-diff --ignore-submodules=dirty "$@" < /dev/null | LC_ALL=C grep -qE "$odd" ||
    refuse "it names files outside of $found, or such that other programs would take apart"
  unseen=$(cd -P -- "$from" && git diff -z --no-ext-diff --ignore-submodules=dirty "$@" < /dev/null | xargs -0 sh -c ${quoted(unseenScript)} sh 2> /dev/null) ||
    refuse "it names a file that is not there, and other programs would take that name apart: $unseen"
fi
case $subcommand in
  grep | blame | annotate)
    behind=$(cd -P -- "$from" && git ls-files -z < /dev/null | xargs -0 sh -c ${quoted(behindScript)} sh 2> /dev/null) ||
      refuse "its index names files behind the link $behind, and it would read them where that leads"
    ;;
esac
case $subcommand in
  status) set -- --ignore-submodules=dirty "$@" ;;
  diff) set -- --no-ext-diff --ignore-submodules=dirty "$@" ;;
  blame | annotate) set -- --no-ignore-revs-file "$@" ;;
  ls-remote) export GIT_ALLOW_PROTOCOL=http:https ;;
esac
exec git \${literal:+"$literal"} \${subcommand:+"$subcommand"} "$@" < /dev/null
`;
