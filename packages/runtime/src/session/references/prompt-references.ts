import { dirname, join, relative } from "node:path";
import { findPromptReferences, parseLines, type WrittenReference } from "../../context/references.ts";
import { type UsedTool, useTool } from "../../engine/use-tool.ts";
import type { ImagePart, Message, TextPart, UserMessage } from "../../protocol/content.ts";
import type { EventBody, ReferenceRecord } from "../../protocol/events.ts";
import { isInside } from "../../util/is-inside.ts";
import { isOpenFile } from "./open-files.ts";
import { fileBlock, readFileReference, type ReferenceGround } from "./read-file.ts";
import type { SessionReferences } from "./session-references.ts";

/** How many a prompt may name, how many bytes of files they may have together, and how deep files name others. */
const maxReferences = 8;
const maxTotalBytes = 256 * 1024;
const maxDepth = 2;
/** Of a longer file the model is shown the beginning, and people are told. */
const wholeBytes = 64 * 1024;

/**
 * Gives the model what a prompt names with `@`: files and folders that are there, and resources of servers. A word that names nothing is a
 * word. What may not be read is told, and the prompt goes on without it.
 */
export async function readReferences(
  message: UserMessage,
  { standing, messages, ...ground }: ReferenceGround & StandingFiles,
): Promise<EventBody<"input.added"> | undefined> {
  const texts = message.content.flatMap((part) => (part.type === "text" && !message.isVerbatim ? [part.text] : []));
  const written = texts.flatMap(findPromptReferences);
  if (written.length + standing.active.length === 0) return undefined;
  const reading = new Reading(ground, standing);
  for (const path of standing.active) await reading.addStanding(path, { standing, messages });
  await reading.addAll(written, { folder: ground.deps.workspace.root, depth: 1 });
  standing.observe(reading.records);
  return reading.tell();
}

/** What every prompt brings along, and the conversation so far. */
export type StandingFiles = { readonly standing: SessionReferences; readonly messages: readonly Message[] };

type Place = { readonly folder: string; readonly depth: number };

class Reading {
  readonly #ground: ReferenceGround;
  readonly #isDiscreet: boolean;
  readonly #records: ReferenceRecord[] = [];
  readonly #parts: (TextPart | ImagePart)[] = [];
  readonly #seen = new Set<string>();
  /** Of files that were asked about before their turn. */
  readonly #early = new Map<string, Promise<UsedTool>>();
  #bytes = 0;
  #overflow = 0;
  #missing = 0;

  constructor(ground: ReferenceGround, { isDiscreet }: SessionReferences) {
    this.#ground = ground;
    this.#isDiscreet = isDiscreet;
  }

  async addAll(written: readonly WrittenReference[], place: Place): Promise<void> {
    if (place.depth === 1) await this.#askTogether(written, place);
    for (const reference of written) await this.#add(reference, place);
  }

  get records(): readonly ReferenceRecord[] {
    return this.#records;
  }

  /** Once, and again when the file has changed or the conversation has lost it. */
  async addStanding(path: string, { standing, messages }: StandingFiles): Promise<void> {
    const { workspace } = this.#ground.deps;
    const stat = await workspace.stat(path).catch(() => undefined);
    const version = `${stat?.size}-${stat?.mtimeMs}`;
    const isThere = (text: string): boolean =>
      messages.some(({ content }) => content.some((part) => part.type === "text" && part.text === text));
    const known = standing.given(path);
    this.#seen.add(`${path}#-`); // also where the prompt names it
    if (known?.version === version && isThere(known.text)) return;
    const reference = isInside(workspace.root, path) ? relative(workspace.root, path) : path;
    const record = { reference, path, depth: 1, byteLength: stat?.size ?? 0 };
    if (stat?.kind !== "file") return this.#leaveOut(record, "there is no such file any more");
    const used = await readFileReference({ path }, this.#ground);
    if (used.status !== "ok") return this.#leaveOut(record, used.reason ?? used.text);
    const parts = inBlock(reference, used.content);
    const text = parts[0]?.type === "text" ? parts[0].text : "";
    standing.give(path, { version, text });
    if (isThere(text)) return; // as an earlier process has shown it
    this.#bytes += stat.size;
    this.#records.push({ ...record, status: "read" });
    this.#parts.push(...parts);
  }

  /** What was read, as input of the turn; undefined when nothing was named. */
  tell(): EventBody<"input.added"> | undefined {
    const { emit } = this.#ground;
    if (this.#records.length === 0) return undefined;
    emit({ type: "references.read", references: this.#records });
    for (const { reference, reason } of this.#records)
      if (reason !== undefined) emit({ type: "warning.raised", message: `@${reference} was not read: ${reason}` });
    if (this.#overflow > 0) {
      const message = `A prompt may name ${maxReferences} files; ${this.#overflow} more were left out`;
      emit({ type: "warning.raised", message });
      this.#parts.push({ type: "text", text: `[${message}.]` });
    }
    if (this.#missing > maxReferences) {
      const message = `${this.#missing - maxReferences} more of the files that the prompt names are not there`;
      emit({ type: "warning.raised", message });
      this.#parts.push({ type: "text", text: `[${message}.]` });
    }
    return { type: "input.added", input: { role: "user", content: this.#parts }, origin: "file" };
  }

  async #add(reference: WrittenReference, place: Place): Promise<void> {
    const { written, isPath } = reference;
    if (this.#ground.signal.aborted || this.#seen.has(`${place.folder}\0${written}`)) return;
    this.#seen.add(`${place.folder}\0${written}`);
    const resource = place.depth === 1 ? this.#resource(written) : undefined;
    if (resource) return await this.#within(written, () => this.#addResource(written, resource, place));
    const file = await this.#find(reference, place);
    if (file) return await this.#within(file.written, () => this.#addFile(file.written, file, place));
    if (!isPath || place.depth > 1) return;
    if (++this.#missing <= maxReferences)
      this.#leaveOut({ reference: written, path: written, depth: 1, byteLength: 0 }, "there is no such file");
  }

  /** Files outside of the project are asked about: all at once, so that somebody who does not answer is waited for once. */
  async #askTogether(written: readonly WrittenReference[], place: Place): Promise<void> {
    const { root } = this.#ground.deps.workspace;
    for (const reference of written.slice(0, maxReferences)) {
      if (this.#resource(reference.written)) continue;
      const file = await this.#find(reference, place);
      if (!file || isInside(root, file.path) || this.#early.has(keyOf(file))) continue;
      this.#early.set(keyOf(file), readFileReference(file, this.#ground));
    }
    await Promise.allSettled(this.#early.values()); // each is looked at in its turn
  }

  async #within(written: string, add: () => Promise<void>): Promise<void> {
    if (this.#records.length < maxReferences) return await add();
    this.#overflow++;
    if (this.#overflow <= maxReferences) this.#parts.push({ type: "text", text: `[@${written} was left out.]` });
  }

  async #find({ written, short = "", isPath }: WrittenReference, place: Place): Promise<Found | undefined> {
    const { workspace, policy } = this.#ground.deps;
    // Asked about like a file that is there: the question, and what follows, would tell.
    if (this.#isDiscreet && place.depth === 1 && !(await isOpenFile(written, { workspace, policy })))
      return isPath ? { written, path: written, size: 0, isFolder: false, lines: undefined } : undefined;
    const whole = await this.#findNamed(written, place);
    return whole ?? (short === "" ? undefined : await this.#findNamed(short, place));
  }

  /** Undefined for what is not there. A file that another one names lies in the project. */
  async #findNamed(written: string, { folder, depth }: Place): Promise<Found | undefined> {
    const { workspace } = this.#ground.deps;
    for (const { name, lines } of depth === 1 ? [{ name: written }, parseLines(written)] : [parseLines(written)]) {
      try {
        const path = await workspace.resolve(depth === 1 ? name : join(folder, name));
        if (depth > 1 && !isInside(workspace.root, path)) return undefined;
        const stat = await workspace.stat(path);
        if (stat && (stat.kind !== "other" || depth === 1))
          return { written, path, size: stat.size, isFolder: stat.kind === "directory", lines };
      } catch {
        // a name no file system takes
      }
    }
    return undefined;
  }

  async #addFile(reference: string, { path, size, isFolder, lines }: Found, { depth }: Place): Promise<void> {
    const key = keyOf({ path, lines });
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    const { root } = this.#ground.deps.workspace;
    const record = { reference, path, depth, byteLength: isFolder ? 0 : size };
    const counted = isFolder || lines ? 0 : Math.min(size, wholeBytes);
    if (this.#bytes + counted > maxTotalBytes)
      return this.#leaveOut(record, `the files of a prompt may have ${maxTotalBytes / 1024} KiB together`);
    const where = isInside(root, path) ? relative(root, path) || "." : path;
    const used = await (this.#early.get(key) ?? readFileReference({ path, lines }, this.#ground));
    if (used.status !== "ok") return this.#leaveOut(record, used.reason ?? used.text);
    this.#bytes += counted;
    this.#records.push({ ...record, status: "read" });
    if (!isFolder && !lines && size > wholeBytes && used.content.every(({ type }) => type === "text"))
      this.#ground.emit({
        type: "warning.raised",
        message: `@${reference} has ${size} bytes: the model was given its beginning, and where to read on`,
      });
    const shown = lines ? `${where}#L${lines.offset}-${lines.offset + lines.limit - 1}` : where;
    this.#parts.push(...inBlock(shown, used.content));
    if (isFolder || depth >= maxDepth || !/\.(?:md|mdx|markdown)$/i.test(path)) return;
    await this.addAll(findPromptReferences(used.text), { folder: dirname(path), depth: depth + 1 });
  }

  #resource(written: string): Resource | undefined {
    const colon = written.indexOf(":");
    if (colon <= 0) return undefined;
    const server = written.slice(0, colon);
    const address = written.slice(colon + 1);
    for (const { name, facts } of this.#ground.deps.tools.values()) {
      const reads = facts?.readsResources;
      if (reads?.servers().includes(server)) return { tool: name, input: { [reads.server]: server, [reads.address]: address } };
    }
    return undefined;
  }

  async #addResource(reference: string, { tool, input }: Resource, { depth }: Place): Promise<void> {
    const { deps, ...turn } = this.#ground;
    const used = await useTool({ ...deps, ...turn }, tool, input);
    const record = { reference, path: reference, depth, byteLength: Buffer.byteLength(used.text) };
    if (used.status !== "ok") return this.#leaveOut({ ...record, byteLength: 0 }, used.reason ?? used.text);
    this.#records.push({ ...record, status: "read" });
    this.#parts.push(...inBlock(reference, used.content));
  }

  #leaveOut(record: Omit<ReferenceRecord, "status" | "reason">, reason: string): void {
    this.#records.push({ ...record, status: "left-out", reason });
    this.#parts.push({ type: "text", text: `[@${record.reference} was not read: ${reason}]` });
  }
}

type Found = {
  /** As it was named. */
  readonly written: string;
  readonly path: string;
  readonly size: number;
  readonly isFolder: boolean;
  readonly lines: ReturnType<typeof parseLines>["lines"];
};

function keyOf({ path, lines }: Pick<Found, "path" | "lines">): string {
  return `${path}#${lines?.offset ?? ""}-${lines?.limit ?? ""}`;
}

type Resource = { readonly tool: string; readonly input: Readonly<Record<string, string>> };

/** Pictures stand behind the text that says what they are. */
function inBlock(name: string, content: readonly (TextPart | ImagePart)[]): (TextPart | ImagePart)[] {
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const pictures = content.filter((part) => part.type === "image");
  return [
    { type: "text", text: fileBlock(name, pictures.length > 0 ? ["(shown below)", ...texts].join("\n") : texts.join("\n")) },
    ...pictures,
  ];
}
