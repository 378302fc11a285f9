/** What somebody pressed: a name for what moves or ends something, the text of what is to be written, or a whole text that was pasted. */
export type Key =
  | { readonly type: "named"; readonly name: KeyName }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "paste"; readonly text: string };

export type KeyName =
  | "up"
  | "down"
  | "left"
  | "right"
  | "home"
  | "end"
  | "page-up"
  | "page-down"
  | "delete"
  | "backspace"
  | "enter"
  | "new-line"
  | "tab"
  | "back-tab"
  | "escape"
  | "word-left"
  | "word-right"
  | "delete-word"
  | `ctrl-${string}`;

/** Sequences behind ESC, as terminals that follow xterm send them. */
const sequences: Readonly<Record<string, KeyName>> = {
  "[A": "up",
  "[B": "down",
  "[C": "right",
  "[D": "left",
  OA: "up",
  OB: "down",
  OC: "right",
  OD: "left",
  "[H": "home",
  "[F": "end",
  OH: "home",
  OF: "end",
  "[1~": "home",
  "[4~": "end",
  "[3~": "delete",
  "[5~": "page-up",
  "[6~": "page-down",
  "[Z": "back-tab",
  "[1;5C": "word-right",
  "[1;5D": "word-left",
  "[1;3C": "word-right",
  "[1;3D": "word-left",
  b: "word-left",
  f: "word-right",
  "\x7f": "delete-word",
  "\r": "new-line",
  "\n": "new-line",
};

const controls: Readonly<Record<string, KeyName>> = {
  "\r": "enter",
  "\n": "new-line", // Ctrl-J
  "\t": "tab",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x17": "delete-word",
};

const pasteStart = "\x1b[200~";
const pasteEnd = "\x1b[201~";

/** Turns what a terminal in raw mode sends into keys. A sequence, or what is pasted, may come in pieces. */
class KeyReader {
  #rest = "";

  /** The keys that are complete with this. */
  feed(chunk: string): Key[] {
    let text = this.#rest + chunk;
    const keys: Key[] = [];
    for (let taken = takeKey(text); taken; taken = takeKey(text)) {
      if (taken.key) keys.push(taken.key);
      text = text.slice(taken.length);
    }
    this.#rest = text;
    return keys;
  }

  /** Whether something waits for its end: an ESC that nothing follows is the key. */
  get isWaiting(): boolean {
    return this.#rest !== "" && !this.#rest.startsWith(pasteStart);
  }

  /** Nothing more has come: what waits is complete as it is. */
  flush(): Key[] {
    if (!this.isWaiting) return [];
    this.#rest = "";
    return [{ type: "named", name: "escape" }];
  }
}

type Taken = { readonly key?: Key; readonly length: number };

/** Undefined when more has to come first. */
function takeKey(text: string): Taken | undefined {
  const first = text.codePointAt(0);
  if (first === undefined) return undefined;
  if (first === 0x1b) return takeSequence(text);
  const character = String.fromCodePoint(first);
  const name = controls[character];
  if (name) return { key: { type: "named", name }, length: 1 };
  if (first < 32) return { key: { type: "named", name: `ctrl-${String.fromCharCode(first + 96)}` }, length: 1 };
  const [written = character] = /^[^\p{Cc}]+/u.exec(text) ?? [];
  return { key: { type: "text", text: written }, length: written.length };
}

function takeSequence(text: string): Taken | undefined {
  if (text.startsWith(pasteStart)) {
    const end = text.indexOf(pasteEnd);
    if (end === -1) return undefined;
    const pasted = text.slice(pasteStart.length, end).replace(/\r\n?/g, "\n");
    return { key: { type: "paste", text: pasted }, length: end + pasteEnd.length };
  }
  const [sequence] = /^(?:\[[\d;?]*[ -/]*[@-~]|O[@-~]|[^[O])/.exec(text.slice(1)) ?? [];
  if (sequence === undefined) return undefined;
  if (sequence === "\x1b") return { key: { type: "named", name: "escape" }, length: 1 };
  const name = sequences[sequence];
  return { ...(name && { key: { type: "named", name } as const }), length: sequence.length + 1 };
}

export interface Keyboard {
  /** Gives the terminal back as it was. */
  close(): void;
}

/** A terminal that is gone needs nothing back. */
function restore(input: NodeJS.ReadStream): void {
  try {
    input.setRawMode(false);
  } catch {
    input.destroy();
  }
}

/** So long after an ESC its sequence must have come; over slow lines it comes in pieces. */
const escapeMs = 50;

/** Listens to a terminal in raw mode, with pasted text marked as such. */
export function openKeyboard(input: NodeJS.ReadStream, output: NodeJS.WriteStream, onKey: (key: Key) => void): Keyboard {
  const reader = new KeyReader();
  let timer: NodeJS.Timeout | undefined;
  const hear = (chunk: string): void => {
    clearTimeout(timer);
    for (const key of reader.feed(chunk)) onKey(key);
    if (reader.isWaiting) timer = setTimeout(() => reader.flush().forEach(onKey), escapeMs);
  };
  input.setRawMode(true);
  input.setEncoding("utf8");
  input.on("data", hear);
  input.resume();
  output.write("\x1b[?2004h");
  return {
    close() {
      clearTimeout(timer);
      input.off("data", hear);
      restore(input);
      input.pause();
      output.write("\x1b[?2004l");
    },
  };
}
