import { RuntimeError } from "../protocol/errors.ts";
import { messageOf } from "../util/message-of.ts";
import { randomUuid } from "../util/unique-ids.ts";
import { type SandboxClient, type SandboxProcess, shellWord } from "./sandbox-client.ts";
import type { ProcessEnd, RunningProcess, StartCommand } from "./workspace.ts";

const variable = "OUTRIDER_PROCESS_SCOPE";
const sweepTimeoutMs = 10_000;

/** A program on another machine that goes on, where its client can start one. */
export async function startOn(client: SandboxClient, command: StartCommand & { cwd: string }): Promise<RunningProcess> {
  if (!client.start) {
    throw new RuntimeError("usage", "This sandbox starts no programs that go on: it only runs commands to their end.", {
      hint: "Give its client a `start`",
    });
  }
  const mark = randomUuid();
  const decoder = new TextDecoder();
  let killed = (): void => {};
  const whenKilled = new Promise<ProcessEnd>((resolve) => {
    killed = () => resolve({ end: "aborted" });
  });
  // The other machine does not wait for us: what comes while a chunk is being taken is kept in order.
  let taken: Promise<void> = Promise.resolve();
  let refusal: { readonly error: unknown } | undefined;
  const hear = (stream: "stdout" | "stderr") => (text: string) => {
    taken = taken.then(async () => {
      if (refusal) return;
      try {
        await command.onOutput?.({ stream, bytes: new TextEncoder().encode(text) });
      } catch (error) {
        refusal = { error };
        void kill();
      }
    });
  };
  let program: SandboxProcess;
  try {
    program = await client.start([command.file, ...command.args].map(shellWord).join(" "), {
      cwd: command.cwd,
      env: { ...command.env, [variable]: mark },
      takesInput: command.takesInput ?? false,
      onStdout: hear("stdout"),
      onStderr: hear("stderr"),
    });
  } catch (error) {
    if (error instanceof RuntimeError) throw error;
    throw new RuntimeError("usage", `The sandbox could not start the command: ${messageOf(error)}`, { cause: error });
  }
  const kill = async (): Promise<void> => {
    killed();
    await program.kill().catch(() => {}); // it ended by itself in the meantime
    await client.run(sweepScript(mark), { timeoutMs: sweepTimeoutMs }).catch(() => {}); // a machine that is gone has no processes
  };
  const end = async (): Promise<ProcessEnd> => {
    const exited = program.ended.then(({ exitCode }): ProcessEnd => ({ end: "exit", exitCode }));
    const result = await Promise.race([whenKilled, exited]);
    await taken;
    if (refusal) throw refusal.error;
    return result;
  };
  const ended = end();
  command.signal?.addEventListener("abort", kill, { once: true });
  if (command.signal?.aborted) void kill();
  ended.finally(() => command.signal?.removeEventListener("abort", kill)).catch(() => {}); // the failure is for whoever asks
  return {
    pid: program.pid,
    ended,
    kill,
    async write(data) {
      if (!program.write) throw new RuntimeError("usage", "This sandbox takes no input for a program that goes on.");
      const text = typeof data === "string" ? data : decoder.decode(data, { stream: true });
      return await program.write(text).then(
        () => true,
        () => false,
      );
    },
    endInput: () => void program.endInput?.().catch(() => {}), // it reads no more
  };
}

/** Whatever has the mark in its environment, with the programs every Linux image has; again, for what was started meanwhile. */
function sweepScript(mark: string): string {
  return [
    "for round in 1 2 3 4 5; do found=",
    "for place in /proc/[0-9]*; do",
    `if grep -qs ${mark} "$place/environ"; then kill -KILL "\${place#/proc/}" 2>/dev/null && found=yes; fi`,
    'done; [ -n "$found" ] || break; done',
  ].join("\n");
}
