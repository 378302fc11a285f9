const sizeDigits = 8;

/** A file that bash would have read, and options that it would have shown, before the script. */
const startVariables = ["BASH_ENV", "SHELLOPTS", "BASHOPTS"];

/**
 * What a bash runs that is started ahead of its script. It reads the size of the script on 3, then the script, then is what `bash -c`
 * would be: its clock at zero, lines counted from one. Not on its input: a bash whose input is a socket reads ~/.bashrc.
 */
export const waitScript: string = [
  `IFS= read -r -u 3 -N ${sizeDigits} outrider_script || exit`,
  'IFS= read -r -u 3 -N "$((10#$outrider_script))" outrider_script || exit',
  "exec 3<&-",
  "SECONDS=0",
  'eval "unset -v outrider_script; $outrider_script"',
].join("; ");

/** Is a bash with these variables the same whether it was started with its script or ahead of it? */
export function canStartAhead(env: Readonly<Record<string, string>>): boolean {
  return !startVariables.some((name) => name in env);
}

export function areSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/** The script as the waiting bash reads it: it counts characters, and only those of ASCII are one byte each in every locale. */
export function toWaiting(script: string): string {
  const text = /^\p{ASCII}*$/u.test(script) ? script : `eval ${inAscii(script)}`;
  return `${String(text.length).padStart(sizeDigits, "0")}${text}`;
}

/** One word of bash. */
function inAscii(script: string): string {
  const letters = [...Buffer.from(script)].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x27 || byte === 0x5c
      ? `\\x${byte.toString(16).padStart(2, "0")}`
      : String.fromCharCode(byte),
  );
  return `$'${letters.join("")}'`;
}
