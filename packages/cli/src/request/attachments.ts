import { readFileSync, statSync } from "node:fs";
import { type ImagePart, RuntimeError } from "@outrider/runtime";
import { binaryKind, inspectImage, refusalOf, toSendableContent } from "@outrider/runtime/admin";

/** Larger files are sent to nobody; what is too large for a model below this is made smaller on its way. */
const maxFileBytes: number = 30 * 1024 * 1024;

type Files = { readonly images: readonly string[]; readonly documents: readonly string[] };

/** The pictures and documents that flags name. What no model could see is found before anybody is asked. */
export async function readAttachments({ images, documents }: Files): Promise<ImagePart[]> {
  const pictures = await Promise.all(images.map((path) => toImage(readFile("--image", path), `--image ${path}`)));
  return [...documents.map(toDocument), ...pictures];
}

/** Providers that take no documents are given words in its place, with a warning. */
function toDocument(path: string): ImagePart {
  const bytes = readFile("--pdf", path);
  if (bytes.subarray(0, 1024).includes("%PDF-"))
    return { type: "image", mediaType: "application/pdf", data: bytes.toString("base64") };
  throw new RuntimeError("usage", `--pdf ${path} is no PDF document but ${binaryKind(bytes) ?? "a text"}`, {
    hint: "What counts is in the file, not its name",
  });
}

/** What stdin holds when it is no text: a picture. Undefined for text, in whatever encoding. */
export async function imageFromStdin(bytes: Buffer): Promise<ImagePart | undefined> {
  if (inspectImage(bytes).type !== "unknown") return await toImage(bytes, "stdin");
  const kind = binaryKind(bytes);
  if (kind === undefined) return undefined;
  throw new RuntimeError("usage", `stdin holds ${kind}, which is neither text nor a picture`, {
    hint: "Put it into a file and name the file in the prompt, so that tools can look at it",
  });
}

async function toImage(bytes: Buffer, where: string): Promise<ImagePart> {
  const facts = inspectImage(bytes);
  const data = bytes.toString("base64");
  const [made] = facts.type === "image" ? await toSendableContent([{ type: "image", mediaType: facts.mediaType, data }]) : [];
  if (made?.type === "image") return made;
  const kind = facts.type === "unknown" && bytes.length > 0 ? `it is ${binaryKind(bytes) ?? facts.kind}, and ` : "";
  throw new RuntimeError("usage", `${where} cannot be shown to a model: ${kind}${refusalOf(facts, data) ?? "it is no picture"}`, {
    hint: "What counts is in the file, not its name",
  });
}

function readFile(flag: "--image" | "--pdf", path: string): Buffer {
  const stat = statSync(path, { throwIfNoEntry: false });
  const problem = !stat
    ? "there is no such file"
    : !stat.isFile()
      ? "it is no ordinary file"
      : stat.size > maxFileBytes
        ? `it has more than ${maxFileBytes / 1024 / 1024} MB`
        : undefined;
  if (problem !== undefined) throw new RuntimeError("no-input", `${flag} ${path}: ${problem}`);
  try {
    return readFileSync(path);
  } catch (error) {
    throw new RuntimeError("no-input", `${flag} ${path} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}
