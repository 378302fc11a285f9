import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { SessionHost } from "../packages/runtime/src/hosting/session-host.ts";
import { createScriptedProvider } from "../packages/runtime/src/model/scripted.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "outrider-many-")));
after(() => rmSync(top, { recursive: true, force: true }));

const count = 1_000;

/** What sessions of one process could fight over. */
function globals(): object {
  const names = ["exit", "beforeExit", "SIGINT", "SIGTERM", "SIGHUP", "uncaughtException", "unhandledRejection", "warning"];
  return {
    cwd: process.cwd(),
    env: { ...process.env },
    listeners: names.map((name) => process.listenerCount(name)),
    exitCode: process.exitCode,
  };
}

describe("a thousand sessions in one process", () => {
  it("are open at once, answer, stay apart, and leave nothing of the process changed", async () => {
    const env = { PATH: process.env["PATH"] ?? "" };
    const around = { env, userHome: top, outriderHome: join(top, ".outrider"), cwd: top };
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on("warning", onWarning);
    const before = globals();
    const host = new SessionHost({ around, defaults: { cwd: top, sandboxMode: "off" } });
    const held = [];
    for (let begun = 0; begun < count; begun += 50)
      held.push(
        ...(await Promise.all(
          Array.from({ length: 50 }, (_, index) => {
            const provider = createScriptedProvider([{ text: `I am ${begun + index}` }]);
            return host.create({ provider, options: { sessionName: `number ${begun + index}` } });
          }),
        )),
      );
    assert.equal(host.size, count);
    await assert.rejects(host.create(), { code: "limit-reached" });
    const outcomes = await Promise.all(held.map(({ session }, index) => session.submit(`You are ${index}`)));
    assert.deepEqual(
      outcomes.map(({ text }) => text),
      held.map((_, index) => `I am ${index}`),
    );
    assert.deepEqual(globals(), before);
    await host.shutdown();
    assert.deepEqual([globals(), warnings], [before, []]);
    const stored = await host.list();
    assert.deepEqual(
      [stored.length, new Set(stored.map(({ name }) => name)).size, stored.every(({ ended }) => ended !== undefined)],
      [count, count, true],
    );
    process.off("warning", onWarning);
  });
});
