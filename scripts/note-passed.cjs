// Loaded into the process of each test file: one that ends well is written down. Node's reports name the source of a test, which may be
// another file than the one that ran.
const { appendFileSync } = require("node:fs");
const { isMainThread } = require("node:worker_threads");

if (isMainThread) {
  process.on("exit", (code) => {
    if (code === 0) appendFileSync(process.env.PASSED_TEST_FILES, `${process.argv[1]}\n`);
  });
}
