import type { ComponentChildren, JSX } from "preact";

/** Characters that change what a reader sees without being seen: directions, zero widths and controls. */
const unseen = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]/;

const mask = /\[redacted:([\w-]+)\]/;
const shown = new RegExp(`${unseen.source}|${mask.source}`, "g");

/** Text as it is, with unseen characters shown by their names, and masks of secrets as what they are. */
export function plain(text: string): ComponentChildren {
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const found of text.matchAll(shown)) {
    const [whole, secret] = found;
    parts.push(text.slice(from, found.index), secret === undefined ? <Control character={whole} /> : <Masked name={secret} />);
    from = found.index + whole.length;
  }
  return parts.length === 0 ? text : [...parts, text.slice(from)];
}

function Masked({ name }: { name: string }): JSX.Element {
  return <span class="redact">redacted: {name}</span>;
}

function Control({ character }: { character: string }): JSX.Element {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return <span class="ctl">U+{code}</span>;
}

const escapes = /\u001B(?:\[([0-9;:]*)([A-Za-z@`])|\][^\u0007\u001B]{0,2000}(?:\u0007|\u001B\\)|[()][A-Za-z0-9]|[=>78cDEHMNOZ])/g;
/** More pieces than this are not worth the colours. */
const maxPieces = 4000;

/** Output of a terminal: colours stay, orders to move the cursor go, and a line that was written over is as it ended. */
export function terminal(raw: string): ComponentChildren {
  const text = raw.replace(/\r\n/g, "\n").replace(/^.*\r(?=[^\n])/gm, "");
  const pieces: ComponentChildren[] = [];
  let style: string[] = [];
  let from = 0;
  const add = (part: string): void => {
    if (part !== "") pieces.push(style.length > 0 ? <span class={style.join(" ")}>{plain(part)}</span> : plain(part));
  };
  for (const found of text.matchAll(escapes)) {
    add(text.slice(from, found.index));
    from = found.index + found[0].length;
    if (found[2] === "m") style = restyle(style, found[1] ?? "");
    if (pieces.length > maxPieces) {
      pieces.push(plain(text.slice(from).replace(escapes, "")));
      return pieces;
    }
  }
  add(text.slice(from));
  return pieces;
}

const ends: Readonly<Record<string, RegExp>> = { "22": /^a[12]$/, "27": /^a7$/, "39": /^a3\d$/, "49": /^a4\d$/ };

function restyle(style: readonly string[], codes: string): string[] {
  let now = [...style];
  for (const code of codes.split(/[;:]/)) {
    const ended = ends[code];
    if (code === "" || code === "0") now = [];
    else if (ended) now = now.filter((name) => !ended.test(name));
    else if (/^(?:[127]|3[1-6]|4[24]|9[1-6])$/.test(code)) {
      const name = `a${code.startsWith("9") ? `3${code[1]}` : code}`;
      now = [...now.filter((other) => other.slice(0, 2) !== name.slice(0, 2) || name.length < 3), name];
    }
  }
  return now;
}
