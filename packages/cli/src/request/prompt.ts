import { fstatSync } from "node:fs";
import { type ImagePart, RuntimeError } from "@outrider/runtime";
import { refuseSlip } from "../flags/args.ts";
import { isTerminal } from "../terminal/is-terminal.ts";

/** Standard input above this is refused. */
const maxStdinBytes: number = 10 * 1024 * 1024;

/** How long a prompt on the command line lets an open stdin say its first byte: its other end starts when we do, and may be slow. */
const graceMs = 150;

export type PromptSource = {
  readonly positionals: readonly string[];
  readonly dashed?: string | undefined;
  /** Files with pictures. */
  readonly images: readonly string[];
  /** PDF files. */
  readonly documents: readonly string[];
  warn(line: string): void;
};

export type Prompt = { readonly text: string; readonly images: readonly ImagePart[] };

/**
 * The prompt: the words on the command line, with what stdin holds after them. Without words, or with `-`, stdin is read to its end;
 * with words an open pipe that says nothing is not waited for. A picture on stdin goes with the words.
 */
export async function readPrompt(source: PromptSource): Promise<Prompt> {
  const words = source.positionals.filter((word) => word !== "-");
  const wantsStdin = words.length === 0 || source.positionals.includes("-");
  const kind = stdinKind();
  if (words.length === 0 && kind === "terminal") {
    throw new RuntimeError("no-input", "There is no prompt", { hint: 'Give one: outrider -p "what does this project do?"' });
  }
  const isAlone = source.images.length + source.documents.length === 0;
  const images = isAlone ? [] : await (await import("./attachments.ts")).readAttachments(source);
  const bytes = kind === "terminal" || kind === "none" ? Buffer.alloc(0) : await readStdin(kind, wantsStdin, source);
  const picture = isNoText(bytes) ? await (await import("./attachments.ts")).imageFromStdin(bytes) : undefined;
  const piped = picture ? "" : decode(bytes);
  if (source.dashed !== undefined && piped.trim() !== "") refuseSlip(source.dashed);
  const text = [words.join(" "), piped.trimEnd()].filter((part) => part.trim() !== "").join("\n\n");
  if (text === "") {
    const shown = picture || source.images.length > 0 ? "picture" : isAlone ? undefined : "document";
    throw new RuntimeError("no-input", shown ? `There is a ${shown} and no prompt` : "The prompt is empty", {
      hint: "Give a prompt as an argument or on stdin",
    });
  }
  return { text, images: picture ? [...images, picture] : images };
}

/** May be: what it is is looked at then. Text that holds a zero byte is text of two bytes a letter, or odd. */
function isNoText(bytes: Buffer): boolean {
  return bytes.subarray(0, 4096).includes(0) || bytes.subarray(0, 5).toString("latin1") === "%PDF-";
}

type Readable = "file" | "pipe";

async function readStdin(kind: Readable, mustWait: boolean, source: PromptSource): Promise<Buffer> {
  const { stdin } = process; // only now: merely looking at it takes a millisecond
  const chunks: Buffer[] = [];
  let bytes = 0;
  return await new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      stdin.removeAllListeners("data").removeAllListeners("end").removeAllListeners("error");
      stdin.pause();
      (stdin as { unref?(): void }).unref?.(); // an open pipe must not keep the process alive
    };
    const giveUp = (): void => {
      if (bytes > 0) return;
      stop();
      source.warn("stdin is open and holds nothing yet: not waiting for it (use - to wait)");
      resolve(Buffer.alloc(0));
    };
    const timer = mustWait || kind === "file" ? undefined : setTimeout(giveUp, graceMs);
    stdin.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= maxStdinBytes) return;
      stop();
      reject(
        new RuntimeError("config", `stdin holds more than ${maxStdinBytes / 1024 / 1024} MB`, {
          hint: "Put it into a file and name the file in the prompt",
        }),
      );
    });
    stdin.on("end", () => {
      stop();
      resolve(Buffer.concat(chunks));
    });
    stdin.on("error", (error) => {
      stop();
      reject(new RuntimeError("no-input", `Cannot read stdin: ${error.message}`));
    });
  });
}

function stdinKind(): Readable | "terminal" | "none" {
  try {
    const stat = fstatSync(0);
    if (stat.isFile()) return "file";
    if (stat.isFIFO() || stat.isSocket()) return "pipe";
    return isTerminal(0) ? "terminal" : "none";
  } catch {
    return "none"; // closed
  }
}

function decode(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return new TextDecoder().decode(bytes);
}
