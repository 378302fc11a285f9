import { createCheckpoints } from "../packages/runtime/src/checkpoints/checkpoints.ts";
import { beforeEachChange } from "../test/support/faulty-fs.ts";

// node restore-and-die.mjs DIRECTORY N: rolls turn t1 back, and ends itself before the N-th change of a file; says how many there were.
const [directory = "", killAt = "0"] = process.argv.slice(2);
let count = 0;
await beforeEachChange(() => {
  count++;
  if (count === Number(killAt)) process.kill(process.pid, "SIGKILL");
});
await createCheckpoints({ directory, sessionId: "s1", sync: true }).rollbackThrough("t1");
process.stdout.write(String(count));
