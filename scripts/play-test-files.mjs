// node play-test-files.mjs TIMEOUT-MS AT-ONCE FILE…: plays test files with Node's own runner, in the order in which they are given.
// `node --test` would sort them by name, and leave the longest for one processor at the end.
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { slowestFiles } from "./slowest-files.mjs";

const [timeout, concurrency, ...files] = process.argv.slice(2);
const events = run({ files, timeout: Number(timeout), concurrency: Number(concurrency) });
events.on("test:fail", ({ todo }) => {
  if (todo === undefined || todo === false) process.exitCode = 1;
});
events.compose(new spec()).pipe(process.stdout);
events.compose(slowestFiles).pipe(process.stdout);
