import { isBashName } from "./bash-names.ts";
import { isPlain, type ShellWord } from "./shell-words.ts";

const harmlessVariables =
  /^(?:NODE_ENV|CI|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|DEBUG|VERBOSE|RUST_BACKTRACE|RUST_LOG|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|GOOS|GOARCH|CGO_ENABLED|PORT|HOST|LOG_LEVEL|APP_ENV|RAILS_ENV|RACK_ENV|FLASK_ENV|GIT_PAGER_IN_USE|GIT_TERMINAL_PROMPT|TEST_[A-Z_]*|JEST_WORKER_ID|UPDATE_SNAPSHOTS|SOURCE_DATE_EPOCH)$/;

/** Harmless with such a value only: a path would be read, wherever it leads. */
const harmlessValues: readonly (readonly [names: RegExp, values: RegExp])[] = [
  [/^TZ$/, /^(?!.*\.\.)(?:[A-Za-z<][\w+\-/,.:<>]*)?$/], // a zone by its name or its rule
  [/^(?:LANG|LANGUAGE|LC_[A-Z]+)$/, /^[\w@:-][\w@:.-]*$|^$/],
  [/^TERM$/, /^[\w+-][\w+.-]*$|^$/],
];

/** May be set for a program without changing what it is. */
export function isHarmlessVariable(name: string, value?: ShellWord): boolean {
  const [, values] = harmlessValues.find(([names]) => names.test(name)) ?? [];
  return values ? isPlain(value) && values.test(value.text) : harmlessVariables.test(name);
}

/** Why a line that sets this variable is not understood. */
export function settingObjection(name: string, temporary: boolean): string | undefined {
  if (!/^[A-Za-z_]\w*$/.test(name)) return "it sets a variable by a computed name";
  const isMeant = name === "REPLY" || (name === "IFS" && temporary) || isHarmlessVariable(name);
  return isBashName(name) && !isMeant ? `it sets ${name}, which means something to bash` : undefined;
}

const programNames =
  /^(?:PATH|ENV|HOME|TZ|TZDIR|SHELL|EDITOR|VISUAL|BROWSER|PAGER|TMPDIR|TMP|TEMP|MAGIC|BLOCK_SIZE|BLOCKSIZE|TIME_STYLE|QUOTING_STYLE|TABSIZE|LOCPATH|NLSPATH|GCONV_PATH|GLIBC_TUNABLES|TERM|LANG|LANGUAGE|USER|LOGNAME|DISPLAY|CC|CXX|CFLAGS)$|^(?:LC_|LD_|DYLD_|GIT_|NODE_|PYTHON|PERL|RUBY|JAVA|JDK_|XDG_|NPM_|npm_|LESS|MAN|SSH_|CARGO|RUST|GO[A-Z]*$|MAKE|AWK|GREP_|RIPGREP_|JQ_|TAR_|ZIP|UNZIP|GZIP|BZIP|XZ_|ZSTD_|BAT_|DELTA_|EZA_|EXA_|PIP_|SHELLCHECK_|TREE_|PS_|PROCPS_|GH_|DOCKER|KUBE|AWS_|MALLOC_)|_(?:proxy|PROXY|COMMAND|OPTIONS|OPTS|FLAGS|WRAPPER|PRELOAD|PAGER|EDITOR|PATH|HOME|CONFIG)$/;

/** Names the environment of a command has, where that is known: what is set there, programs get to see. */
export type EnvironmentNames = ReadonlySet<string> | undefined;

/** A variable, and what it is set to where that is known. */
type Named = { readonly name: string; readonly value?: ShellWord | undefined };

/**
 * A name of no meaning to bash and to programs: setting it changes nothing but what later words of the line say.
 * What is not exported reaches a program only if the environment has the name already.
 */
export function isOrdinaryName({ name, value }: Named, environment: EnvironmentNames): boolean {
  if (!/^[A-Za-z_]\w*$/.test(name) || isBashName(name)) return name === "REPLY";
  if (isHarmlessVariable(name, value)) return true;
  return environment?.has(name) !== true && !programNames.test(name);
}

/** Programs give their variables names in capitals that say whose they are; a few are written small, and are known. */
const placeholders = /^(?:[A-Z]|[a-z][a-z\d_]*|(?:MY|FOO|BAR|BAZ|QUX)(?:_[A-Z\d]+)*)$/;

/** May be exported by a line that only looks: no program that is known to look has heard of it. */
export function isOrdinaryExport(setting: Named, environment: EnvironmentNames): boolean {
  const { name, value } = setting;
  return isHarmlessVariable(name, value) || (placeholders.test(name) && isOrdinaryName(setting, environment));
}
