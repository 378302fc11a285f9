import { RuntimeError } from "../protocol/errors.ts";
import type {
  SandboxClient,
  SandboxProcess,
  SandboxRunOptions,
  SandboxRunResult,
  SandboxStartOptions,
} from "./sandbox-client.ts";
import { defined } from "../util/defined.ts";

/** The part of an E2B `Sandbox` that is used. Whoever has the package makes one and hands it over. */
export interface E2BSandbox {
  readonly commands: {
    run(command: string, options: E2BStartOptions): Promise<E2BCommandHandle>;
    sendStdin?(pid: number, data: string): Promise<unknown>;
    closeStdin?(pid: number): Promise<unknown>;
  };
  readonly files: {
    read(path: string, options: { format: "bytes" }): Promise<Uint8Array>;
    write(path: string, content: string | ArrayBuffer): Promise<unknown>;
    makeDir(path: string): Promise<unknown>;
  };
  createSnapshot?(): Promise<{ readonly snapshotId: string }>;
}

export type E2BStartOptions = {
  background: true;
  cwd?: string;
  envs?: Record<string, string>;
  timeoutMs?: number;
  stdin?: boolean;
  onStdout?: (text: string) => void;
  onStderr?: (text: string) => void;
};

/** `wait` rejects for exit codes other than 0, with the result in the error. */
export interface E2BCommandHandle {
  readonly pid?: number;
  wait(): Promise<SandboxRunResult>;
  kill(): Promise<unknown>;
}

export type E2BSandboxOptions = {
  /** A new sandbox from a snapshot; without it there is no going back. */
  restore?(snapshotId: string): Promise<E2BSandbox>;
};

/** An E2B sandbox, or any object of that shape, as a client. */
export class E2BSandboxClient implements SandboxClient {
  #sandbox: E2BSandbox;
  readonly snapshot?: () => Promise<string>;
  readonly restore?: (snapshotId: string) => Promise<void>;

  constructor(sandbox: E2BSandbox, options: E2BSandboxOptions = {}) {
    this.#sandbox = sandbox;
    const open = options.restore;
    if (sandbox.createSnapshot) this.snapshot = () => this.#takeSnapshot();
    if (open) {
      this.restore = async (snapshotId) => {
        this.#sandbox = await open(snapshotId);
      };
    }
  }

  async run(command: string, options: SandboxRunOptions = {}): Promise<SandboxRunResult> {
    options.signal?.throwIfAborted();
    const handle = await this.#launch(command, options);
    const end = (): void => void handle.kill().catch(() => {}); // it ended by itself in the meantime
    options.signal?.addEventListener("abort", end, { once: true });
    if (options.signal?.aborted) end();
    try {
      return await handle.wait().catch(fromExitError);
    } finally {
      options.signal?.removeEventListener("abort", end);
    }
  }

  async start(command: string, options: SandboxStartOptions): Promise<SandboxProcess> {
    const { commands } = this.#sandbox;
    const handle = await this.#launch(command, options);
    const { pid } = handle;
    return {
      pid,
      ended: handle.wait().catch(fromExitError),
      async write(text) {
        if (pid === undefined || !commands.sendStdin)
          throw new RuntimeError("usage", "This sandbox takes no input for a command.");
        await commands.sendStdin(pid, text);
      },
      async endInput() {
        if (pid !== undefined) await commands.closeStdin?.(pid);
      },
      async kill() {
        await handle.kill();
      },
    };
  }

  async readFile(path: string): Promise<Uint8Array> {
    return this.#sandbox.files.read(path, { format: "bytes" });
  }

  async writeFile(path: string, content: string | Uint8Array): Promise<void> {
    await this.#sandbox.files.write(path, typeof content === "string" ? content : new Uint8Array(content).buffer);
  }

  async makeDirectory(path: string): Promise<void> {
    await this.#sandbox.files.makeDir(path);
  }

  #launch(command: string, options: SandboxRunOptions & SandboxStartOptions): Promise<E2BCommandHandle> {
    return this.#sandbox.commands.run(command, {
      background: true,
      timeoutMs: options.timeoutMs ?? 0, // none; the service would end it after a minute
      ...(options.takesInput && { stdin: true }),
      ...defined({ cwd: options.cwd }),
      ...(options.env && { envs: { ...options.env } }),
      ...defined({ onStdout: options.onStdout, onStderr: options.onStderr }),
    });
  }

  async #takeSnapshot(): Promise<string> {
    const kept = await this.#sandbox.createSnapshot?.();
    if (!kept) throw new RuntimeError("usage", "This sandbox takes no snapshots.");
    return kept.snapshotId;
  }
}

function fromExitError(error: unknown): SandboxRunResult {
  if (!(error instanceof Error) || !("exitCode" in error) || typeof error.exitCode !== "number") throw error;
  const text = (name: "stdout" | "stderr"): string => {
    const value: unknown = name in error ? Reflect.get(error, name) : undefined;
    return typeof value === "string" ? value : "";
  };
  return { exitCode: error.exitCode, stdout: text("stdout"), stderr: text("stderr") };
}
