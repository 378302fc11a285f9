import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import {
  type CheckpointOptions,
  type Checkpoints,
  createCheckpoints,
} from "../../packages/runtime/src/checkpoints/checkpoints.ts";

/** A project, a place for its checkpoints, and an agent that writes, for tests. */
export type CheckpointBench = {
  readonly project: string;
  readonly directory: string;
  readonly checkpoints: Checkpoints;
  path(name: string): string;
  /** One turn in which the agent writes these files, as Write does: through a temporary file and a rename, keeping the mode. */
  turn(id: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void>;
  agentWrites(name: string, content: string | Uint8Array): Promise<void>;
  /** What a user or another program does. */
  userWrites(name: string, content: string | Uint8Array): void;
  read(name: string): string;
  /** Every file, link and folder of the project, with content and mode. */
  tree(): Record<string, string>;
  reopen(options?: Partial<CheckpointOptions>): Checkpoints;
  remove(): void;
};

export function createBench(options: Partial<CheckpointOptions> = {}): CheckpointBench {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "outrider-checkpoints-")));
  const project = join(root, "project");
  const directory = join(root, "home", "checkpoints");
  mkdirSync(project);
  let clock = Date.UTC(2026, 0, 1);
  const now = (): number => {
    clock += 1000;
    return clock;
  };
  const open = (more: Partial<CheckpointOptions> = {}): Checkpoints =>
    createCheckpoints({ directory, sessionId: "s1", root: project, now, sync: false, ...options, ...more });
  const checkpoints = open();
  const path = (name: string): string => join(project, name);
  const agentWrites = (name: string, content: string | Uint8Array): Promise<void> =>
    checkpoints.protect(path(name), content, async () => replaceFile(path(name), content));
  return {
    project,
    directory,
    checkpoints,
    path,
    agentWrites,
    async turn(id, files) {
      checkpoints.beginTurn({ turnId: id, prompt: `do ${id}` });
      for (const [name, content] of Object.entries(files)) await agentWrites(name, content);
      await checkpoints.endTurn();
    },
    userWrites(name, content) {
      const isNew = !lstatSync(path(name), { throwIfNoEntry: false });
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), content);
      if (isNew) chmodSync(path(name), 0o644); // whatever the umask is
    },
    read: (name) => readFileSync(path(name), "utf8"),
    tree: () => describeTree(project),
    reopen: open,
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

export function replaceFile(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const mode = lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0o644;
  const temporary = `${path}.agent-tmp`;
  writeFileSync(temporary, content);
  chmodSync(temporary, mode & 0o7777);
  renameSync(temporary, path);
}

export function describeTree(folder: string, skip: readonly string[] = []): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  const entries = names.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const name = relative(folder, path);
    if (entry.isSymbolicLink()) return [name, `-> ${readlinkSync(path)}`];
    if (entry.isDirectory()) return [name, "folder"];
    return [name, `${(lstatSync(path).mode & 0o7777).toString(8)} ${readFileSync(path, "base64")}`];
  });
  return Object.fromEntries(
    entries.filter(([name = ""]) => !skip.some((part) => name === part || name.startsWith(`${part}/`))).sort(),
  );
}
