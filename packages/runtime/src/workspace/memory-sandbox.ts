import { posix } from "node:path";
import { RuntimeError } from "../protocol/errors.ts";
import type { SandboxClient, SandboxRunOptions, SandboxRunResult } from "./sandbox-client.ts";
import type { DirectoryEntry, FileStat } from "./workspace.ts";

export type InMemorySandboxOptions = {
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Stands in for a shell. Without it every command ends with 127, as unknown programs do. */
  run?(command: string, options: SandboxRunOptions): SandboxRunResult | Promise<SandboxRunResult>;
  /** Stands in for programs that go on; without it there are none. */
  start?: SandboxClient["start"];
};

type State = { files: Map<string, { content: Uint8Array; mtimeMs: number }>; directories: Set<string> };

/** Files that live and die with the process: for tests, and for agents that need no machine. */
export class InMemorySandboxClient implements SandboxClient {
  readonly #options: InMemorySandboxOptions;
  #state: State = { files: new Map(), directories: new Set(["/"]) };
  #writes = 0;
  readonly #snapshots = new Map<string, State>();
  readonly start?: NonNullable<SandboxClient["start"]>;

  constructor(options: InMemorySandboxOptions = {}) {
    this.#options = options;
    if (options.start) this.start = options.start;
    for (const [path, content] of Object.entries(options.files ?? {})) this.#put(posix.resolve("/", path), content);
  }

  async run(command: string, options: SandboxRunOptions = {}): Promise<SandboxRunResult> {
    if (this.#options.run) return this.#options.run(command, options);
    return { exitCode: 127, stdout: "", stderr: "There are no programs in this sandbox.\n" };
  }

  async readFile(path: string): Promise<Uint8Array> {
    const file = this.#state.files.get(posix.normalize(path));
    if (!file) throw new RuntimeError("not-found", `${path} does not exist.`);
    return file.content.slice();
  }

  async writeFile(path: string, content: string | Uint8Array): Promise<void> {
    this.#put(posix.normalize(path), content);
  }

  async makeDirectory(path: string): Promise<void> {
    for (let folder = posix.normalize(path); !this.#state.directories.has(folder); folder = posix.dirname(folder)) {
      if (this.#state.files.has(folder)) throw new RuntimeError("usage", `${folder} is a file, not a directory.`);
      this.#state.directories.add(folder);
    }
  }

  async stat(path: string): Promise<FileStat | undefined> {
    const place = posix.normalize(path).replace(/(.)\/$/, "$1");
    const file = this.#state.files.get(place);
    if (file) return { kind: "file", size: file.content.length, mtimeMs: file.mtimeMs, mode: 0o100644 };
    return this.#state.directories.has(place) ? { kind: "directory", size: 0, mtimeMs: 0, mode: 0o40755 } : undefined;
  }

  async readDirectory(path: string): Promise<DirectoryEntry[]> {
    const folder = posix.normalize(path).replace(/(.)\/$/, "$1");
    if (!this.#state.directories.has(folder)) throw new RuntimeError("not-found", `${path} is not a directory.`);
    const named = (paths: Iterable<string>, kind: DirectoryEntry["kind"]): DirectoryEntry[] =>
      [...paths]
        .filter((item) => item !== "/" && posix.dirname(item) === folder)
        .map((item) => ({ name: posix.basename(item), kind }));
    const entries = [...named(this.#state.files.keys(), "file"), ...named(this.#state.directories, "directory")];
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async snapshot(): Promise<string> {
    const id = `snapshot-${this.#snapshots.size + 1}`;
    this.#snapshots.set(id, copyOf(this.#state));
    return id;
  }

  async restore(snapshotId: string): Promise<void> {
    const kept = this.#snapshots.get(snapshotId);
    if (!kept) throw new RuntimeError("not-found", `There is no snapshot ${snapshotId}.`);
    this.#state = copyOf(kept);
  }

  #put(path: string, content: string | Uint8Array): void {
    if (this.#state.directories.has(path)) throw new RuntimeError("usage", `${path} is a directory, not a file.`);
    for (let folder = posix.dirname(path); !this.#state.directories.has(folder); folder = posix.dirname(folder)) {
      if (this.#state.files.has(folder)) throw new RuntimeError("usage", `${folder} is a file, not a directory.`);
      this.#state.directories.add(folder);
    }
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content.slice();
    this.#state.files.set(path, { content: bytes, mtimeMs: ++this.#writes }); // no clock: every write is later than the last
  }
}

/** Contents are never changed in place, so they can be shared. */
function copyOf(state: State): State {
  return { files: new Map(state.files), directories: new Set(state.directories) };
}
