// One measurement of the session store, in a process of its own: node journal-child.mjs append|open RUNTIME FOLDER SIZE
// Prints JSON: milliseconds of the floor, which does the same with nothing but `node:fs`, and of ours.
import { fdatasync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const [what, runtime, folder, size] = process.argv.slice(2);
const { createFileStore } = await import(runtime);
console.log(JSON.stringify(what === "append" ? await append(Number(size)) : await open(Number(size))));

/** An event that has survived a power cut when the call comes back, against a line that has. Taken in turn. */
async function append(rounds) {
  const writer = await createFileStore(folder, { sync: "always" }).open("append");
  const file = openSync(join(folder, "floor.jsonl"), "a", 0o600);
  const numbers = { floor: [], ours: [] };
  for (let round = 0; round < rounds; round++) {
    let startedAt = performance.now();
    writeSync(file, `${JSON.stringify(event(round + 1))}\n`);
    await new Promise((resolve, reject) => {
      fdatasync(file, (error) => (error ? reject(error) : resolve()));
    });
    numbers.floor.push(performance.now() - startedAt);
    startedAt = performance.now();
    await writer.append([event(round + 1)]);
    numbers.ours.push(performance.now() - startedAt);
  }
  await writer.close();
  return numbers;
}

/** A log of this many bytes, opened for writing, against one that is read and parsed line by line without a look at what it holds. */
async function open(bytes) {
  const store = createFileStore(folder, { sync: "never" });
  await fill(store, bytes);
  const path = join(folder, "open.jsonl");
  const numbers = { floor: [], ours: [] };
  for (let round = 0; round < 3; round++) {
    let startedAt = performance.now();
    const parsed = parseAll(readFileSync(path));
    numbers.floor.push(performance.now() - startedAt);
    startedAt = performance.now();
    const writer = await store.open("open");
    numbers.ours.push(performance.now() - startedAt);
    if (writer.events.length !== parsed || writer.warnings.length > 0) throw new Error("The log was not read as it was written");
    await writer.close();
  }
  return numbers;
}

async function fill(store, bytes) {
  const writer = await store.open("open");
  const lineBytes = JSON.stringify(event(1)).length;
  for (let seq = 1; seq * lineBytes < bytes; seq += 1000) {
    await writer.append(Array.from({ length: 1000 }, (_, index) => event(seq + index)));
  }
  await writer.close();
}

function parseAll(bytes) {
  const events = [];
  let start = 0;
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
    events.push(JSON.parse(bytes.toString("utf8", start, end)));
    start = end + 1;
  }
  return events.length;
}

/** Two kilobytes, as a tool's result of some lines has. */
function event(seq) {
  const text = `${seq} The quick brown fox jumps over the lazy dog, and nobody has ever asked it why.\n`.repeat(22);
  const result = { type: "tool-result", callId: `call_${seq}`, name: "Read", content: [{ type: "text", text }], isError: false };
  const envelope = { seq, at: "2026-01-01T00:00:00.000Z", sessionId: "open", turnId: "t1" };
  return { ...envelope, type: "tool.ended", callId: `call_${seq}`, name: "Read", status: "ok", result, durationMs: 1 };
}
