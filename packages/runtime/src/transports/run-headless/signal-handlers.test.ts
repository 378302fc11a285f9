import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { registerSignalHandlers } from "./signal-handlers.ts";

const ending = process.env["OUTRIDER_TEST_ENDING"];

if (ending === undefined) {
  describe("registerSignalHandlers", () => {
    const codes = { SIGINT: 0, SIGTERM: 143, SIGHUP: 129, SIGQUIT: 131, throw: 1, reject: 1, return: 0 };
    for (const [by, code] of Object.entries(codes)) {
      it(`ends with ${code} at ${by}, after one clean-up`, async () => {
        const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
          env: { ...process.env, OUTRIDER_TEST_ENDING: by, NODE_TEST_CONTEXT: "" },
          stdio: ["ignore", "pipe", "ignore"],
        });
        let output = "";
        child.stdout.on("data", (chunk) => {
          output += chunk;
          if (by.startsWith("SIG") && output === "ready\n") child.kill(by as NodeJS.Signals);
        });
        const ended = await new Promise<number | null>((resolve) => child.on("close", (exitCode) => resolve(exitCode)));
        assert.deepEqual([ended, output], [code, "ready\nclean\n"]);
      });
    }

    it("can be undone", () => {
      const before = process.listenerCount("SIGHUP");
      registerSignalHandlers({ onCleanup: () => {}, onFatalCleanup: (code) => process.exit(code) })();
      assert.equal(process.listenerCount("SIGHUP"), before);
    });
  });
} else {
  registerSignalHandlers({ onCleanup: () => void process.stdout.write("clean\n"), onFatalCleanup: (code) => process.exit(code) });
  process.stdout.write("ready\n");
  if (ending.startsWith("SIG")) setTimeout(() => {}, 20_000);
  else if (ending === "throw")
    setImmediate(() => {
      throw new Error("nobody catches this");
    });
  else if (ending === "reject") void Promise.reject(new Error("nobody catches this"));
}
