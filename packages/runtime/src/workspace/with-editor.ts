import { resolve } from "node:path";
import { randomUuid } from "../util/unique-ids.ts";
import type { Editor } from "./editor.ts";
import { readInEditor, writeInEditor } from "./editor-files.ts";
import { startInEditor } from "./editor-process.ts";
import type { LocalWorkspace, LocalWorkspaceOptions } from "./local.ts";
import { type Guarded, guardProcesses, ownMark } from "./process-guard.ts";
import { scopeVariable } from "./process-scope.ts";
import { endProcesses, killAtExit } from "./process-sweep.ts";
import { closedWorkspace, neverStarted, runToEnd } from "./run-to-end.ts";
import type { RunningProcess, StartCommand, Workspace } from "./workspace.ts";

type Variables = Pick<LocalWorkspaceOptions, "carefulEnv" | "untrusted">;

/** This machine, with an editor that has its files open and shows what the user lets run. Other roots are not the editor's. */
export function withEditor(local: LocalWorkspace, editor: Editor, { carefulEnv, untrusted }: Variables): LocalWorkspace {
  const terminals = new Terminals();
  const startShown = async (command: StartCommand): Promise<RunningProcess | undefined> => {
    const { callId, place, takesInput } = command;
    if (!editor.openTerminal || !callId || place !== "outside" || takesInput) return undefined;
    const careful = untrusted ? carefulEnv?.() : undefined;
    const shown = {
      ...{ ...command, callId, cwd: resolve(local.root, command.cwd ?? ".") },
      ...{ withheld: careful?.withheld ?? [], isWhole: careful !== undefined },
    };
    return await terminals.open({ ...careful?.env, ...command.env }, (marked) => startInEditor(editor, shown, marked));
  };
  const start: Workspace["start"] = async (command) =>
    command.signal?.aborted ? neverStarted() : ((await startShown(command)) ?? (await local.start(command)));
  return {
    ...local,
    async readFile(path, options) {
      const bytes = await local.readFile(path, options);
      return options?.unsaved && options.exact ? await readInEditor(editor, path, bytes) : bytes;
    },
    async writeFile(path, content, use) {
      const isWritten = use?.exact && (await writeInEditor(editor, path, content));
      if (!isWritten) await local.writeFile(path, content, use);
    },
    start,
    run: (command) => runToEnd(start, command),
    async close() {
      await terminals.close();
      await local.close();
    },
  };
}

/** `mark` stands in `env`, and in no other program's environment. */
export type Marked = { readonly mark: string; readonly env: Readonly<Record<string, string>> };

/** Programs that the editor has started for us. They are no children of ours, and end with us all the same. */
class Terminals {
  readonly #id: string = `${ownMark()}.${randomUuid()}`;
  readonly #running = new Set<RunningProcess>();
  #guarding: Promise<Guarded> | undefined;
  #forget: () => void = () => {};
  #opened = 0;
  #isClosed = false;

  async open(
    env: Readonly<Record<string, string>>,
    begin: (marked: Marked) => Promise<RunningProcess | undefined>,
  ): Promise<RunningProcess | undefined> {
    if (this.#isClosed) throw closedWorkspace();
    if (!this.#guarding) this.#forget = killAtExit(() => ({ mark: `${this.#id}/` }));
    this.#guarding ??= guardProcesses();
    await this.#guarding;
    const mark = `${this.#id}/${++this.#opened};`;
    const program = await begin({ mark, env: { ...env, [scopeVariable]: `${env[scopeVariable] ?? ""}${mark}` } });
    if (!program) return undefined;
    this.#running.add(program);
    const forget = (): void => void this.#running.delete(program);
    program.ended.then(forget, forget);
    if (this.#isClosed) await program.kill();
    return program;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#running].map((program) => program.kill()));
    if (!this.#guarding) return;
    await endProcesses({ mark: `${this.#id}/` });
    this.#forget();
    (await this.#guarding).release();
  }
}
