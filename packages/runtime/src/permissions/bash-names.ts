/**
 * Names bash itself gives a meaning to: it evaluates them as numbers, obeys them, or takes them back. The list of its manual, and all
 * that starts like one of its own.
 */
const bashNames = new Set(
  (
    "_ auto_resume CHILD_MAX COLUMNS COPROC DIRSTACK EMACS ENV EPOCHREALTIME EPOCHSECONDS EUID EXECIGNORE FCEDIT FIGNORE FUNCNAME FUNCNEST GLOBIGNORE " +
    "GROUPS HISTCMD HISTCONTROL HISTFILE HISTFILESIZE HISTIGNORE HISTSIZE HISTTIMEFORMAT histchars HOSTFILE HOSTNAME HOSTTYPE IFS IGNOREEOF " +
    "INPUTRC INSIDE_EMACS LINENO LINES MACHTYPE MAIL MAILCHECK MAILPATH MAPFILE OLDPWD OPTARG OPTERR OPTIND OSTYPE PIPESTATUS POSIXLY_CORRECT PPID " +
    "PROMPT_COMMAND PROMPT_DIRTRIM PS0 PS1 PS2 PS3 PS4 PWD RANDOM READLINE_ARGUMENT READLINE_LINE READLINE_MARK READLINE_POINT REPLY SECONDS " +
    "SHELLOPTS SHLVL SRANDOM TIMEFORMAT TMOUT UID CDPATH"
  ).split(" "),
);

export function isBashName(name: string): boolean {
  return bashNames.has(name) || /^(?:BASH|COMP_|COMPREPLY|READLINE_|HIST|PS\d|PROMPT_)/.test(name);
}

/** Bash keeps these itself: numbers, and what the machine is. */
const ownNames =
  /^(?:[#?$!-]|RANDOM|SRANDOM|SECONDS|LINENO|UID|EUID|PPID|SHLVL|EPOCHSECONDS|EPOCHREALTIME|BASHPID|BASH_VERSION|BASH|HOSTNAME|HOSTTYPE|OSTYPE|MACHTYPE|COLUMNS|LINES|PIPESTATUS|PWD|OLDPWD|GROUPS|OPTIND)$/;

/** Of a variable that a line does not set: the user's own, if bash does not make it of what the line says. */
export function isOwnName(name: string): boolean {
  return ownNames.test(name) || !isBashName(name);
}
