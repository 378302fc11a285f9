import { shellWord } from "../sandbox-client.ts";
import { toWaiting, waitScript } from "../wait-script.ts";

export type SandboxLimits = {
  /** Processes and threads of one command (for root: of all commands of the session); 4096 unless given. */
  readonly processes?: number | undefined;
  /** Memory each single process may take for its data. */
  readonly memoryBytes?: number | undefined;
  /** Size of each single file that is written. */
  readonly fileBytes?: number | undefined;
  /** Processor time of each single process. */
  readonly cpuSeconds?: number | undefined;
};

export type StartSetting = {
  readonly limits: SandboxLimits;
  /** Numbers of open files the program must not get. */
  readonly close: readonly number[];
  /** The socket of the proxy inside, and the port on which programs find it. */
  readonly proxy: { readonly socket: string; readonly port: number } | undefined;
};

/**
 * On standard error: once when the box stands, and again just before the program starts. What comes before the first, or instead, are
 * words of bubblewrap or of the shell; between them are those of a bash that waits.
 */
export const readyMark = "\u001eoutrider-box-ready\u001e";
const sayMark = `printf '\\036outrider-box-ready\\036' >&2`;

export const defaultProcessLimit = 4096;

/**
 * What the shell of a box reads first on its standard input. Any step that fails ends it before it takes an order. `bash`: it becomes a
 * bash with these variables, which waits for its script.
 */
export function startScript({ limits, close, proxy }: StartSetting, bash?: BoxVariables): string {
  const kibibytes = (bytes: number): number => Math.max(1, Math.floor(bytes / 1024));
  const processes = limits.processes ?? defaultProcessLimit;
  return [
    'fail() { echo "bwrap: $1" >&2; exit 125; }',
    "ulimit -c 0",
    ...(close.length === 0 ? [] : [`exec ${close.map((number) => `${number}>&-`).join(" ")}`]),
    // bash calls it -u, where -p is something else; dash and busybox call it -p.
    `ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} || fail "the process limit cannot be set"`,
    ...(limits.memoryBytes === undefined
      ? []
      : [`ulimit -d ${kibibytes(limits.memoryBytes)} || fail "the memory limit cannot be set"`]),
    ...(limits.fileBytes === undefined
      ? []
      : [`ulimit -f ${Math.max(1, Math.floor(limits.fileBytes / 512))} || fail "the file limit cannot be set"`]),
    ...(limits.cpuSeconds === undefined
      ? []
      : [`ulimit -t ${Math.ceil(limits.cpuSeconds)} || fail "the processor limit cannot be set"`]),
    ...(proxy === undefined ? [] : forwarding(proxy)),
    ...(bash === undefined ? [`${sayMark}\n`] : becomeBash(bash)),
  ].join("\n");
}

/** In braces: the shell reads no further, and what comes next on its standard input is for bash. */
function becomeBash(variables: BoxVariables): string[] {
  return ["{", ...exports(variables), sayMark, `exec bash -c ${shellWord(waitScript)} 3<&0 </dev/null`, "}\n"];
}

/** What such a bash reads: goes to the folder, says the second mark and runs the script, whose lines are counted from one. */
export function scriptOrder(script: string, cwd: string): string {
  const enter = `builtin cd -- ${shellWord(cwd)} || { echo "bwrap: the directory cannot be entered" >&2; exit 125; }`;
  return toWaiting(`${enter}; builtin ${sayMark}; ${script}`);
}

export type BoxVariables = Readonly<Record<string, string>>;

export type BoxOrder = {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: BoxVariables;
  /** The number of the open file it reads as its standard input; nothing is read when absent. */
  readonly input: number | undefined;
};

/** What the shell reads next: it becomes the program. In braces, so that half an order is an error of grammar and not another order. */
export function orderScript({ file, args, cwd, env, input }: BoxOrder): string {
  const odd = Object.entries(env)
    .filter(([name]) => !isPlain(name))
    .map(([name, value]) => `${name}=${value}`);
  const words = [...(odd.length === 0 ? [] : ["env", ...odd]), file, ...args];
  return [
    "{",
    `cd ${shellWord(cwd)} || fail "the directory cannot be entered"`,
    ...exports(env),
    sayMark,
    `exec ${words.map(shellWord).join(" ")} ${input === undefined ? "</dev/null" : `<&${input} ${input}<&-`}`,
    "}\n",
  ].join("\n");
}

/** Has it a name that a shell can export? */
export function isPlain(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}

function exports(env: BoxVariables): string[] {
  return Object.entries(env)
    .filter(([name]) => isPlain(name))
    .map(([name, value]) => `export ${name}=${shellWord(value)}`);
}

/** Only bash can name a file above 9; it counts blocks as the others do when it is told to follow the standard. */
export function shellFor({ close }: StartSetting): string[] {
  return [...(close.some((number) => number > 9) ? ["/bin/bash", "--posix"] : ["/bin/sh"]), "-s"];
}

/** Programs speak to a port, the proxy listens on a socket outside. Waits until the port is open: the table of ports says so. */
function forwarding({ socket, port }: { socket: string; port: number }): string[] {
  const hexadecimal = port.toString(16).toUpperCase().padStart(4, "0");
  return [
    `(socat TCP-LISTEN:${port},bind=127.0.0.1,reuseaddr,fork UNIX-CONNECT:${socket} >/dev/null 2>&1 </dev/null &)`,
    "open= tries=0",
    'while [ -z "$open" ]; do',
    `  while read -r _ address _; do case $address in 0100007F:${hexadecimal}) open=yes;; esac; done </proc/net/tcp`,
    '  [ -n "$open" ] || sleep 0.002',
    "  tries=$((tries + 1))",
    '  [ "$tries" -lt 1000 ] || fail "socat did not open its port"',
    "done",
  ];
}
