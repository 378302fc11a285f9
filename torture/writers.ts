import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileStore } from "../packages/runtime/src/journal/file-store.ts";
import { describeSelf } from "../packages/runtime/src/journal/lock-owner.ts";
import { Tally } from "./report.ts";

/** Two processes want to write to one session at the same moment, half of the time over the lock of a dead one. */
export async function doubleWriters(options: { program: string; attempts: number }): Promise<Tally> {
  const tally = new Tally("two writers on one session");
  const folder = mkdtempSync(join(tmpdir(), "outrider-torture-writers-"));
  const writers = ["one", "other"].map((name) => fork(options.program, [folder, name]));
  try {
    const store = createFileStore(folder);
    for (let attempt = 0; attempt < options.attempts; attempt++) {
      const id = `s${attempt}`;
      if (attempt % 2 === 1)
        writeFileSync(join(folder, `${id}.jsonl.lock`), JSON.stringify({ ...describeSelf("dead"), pid: 2 ** 22 + 1 }));
      const startAt = Date.now() + 3;
      const results = await Promise.all(writers.map((writer) => ask(writer, { sessionId: id, startAt })));
      const wrote = results.filter((result) => result === "wrote").length;
      const refused = results.filter((result) => result === "session-locked").length;
      if (wrote === 0 || wrote + refused !== 2) tally.violate(`${id}: ${results.join(", ")}`);
      const names = (await store.read(id)).map((event) => (event.type === "warning.raised" ? event.message : "?"));
      const changes = names.filter((name, index) => index > 0 && name !== names[index - 1]).length;
      const lines = readFileSync(join(folder, `${id}.jsonl`), "utf8").split("\n").length - 1;
      if (names.length !== wrote * 5 || lines !== wrote * 5 || changes > wrote - 1)
        tally.violate(`${id}: interleaved (${names.join(" ")})`);
      tally.count("attempts");
      tally.count("refused", refused);
    }
    const left = readdirSync(folder).filter((name) => !name.endsWith(".jsonl"));
    if (left.length > 0) tally.violate(`left behind: ${left.slice(0, 5).join(", ")}`);
  } finally {
    for (const writer of writers) writer.disconnect();
    rmSync(folder, { recursive: true, force: true });
  }
  return tally;
}

async function ask(writer: ChildProcess, attempt: { sessionId: string; startAt: number }): Promise<unknown> {
  const answer = once(writer, "message");
  writer.send(attempt);
  return (await answer)[0];
}
