import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { durableConformance } from "./conformance.ts";
import type { DurableBackend } from "./durable.ts";
import { createLocalBackend } from "./local-backend.ts";

describe("the local backend", () => {
  const root = mkdtempSync(join(tmpdir(), "outrider-durable-"));
  after(() => rmSync(root, { recursive: true, force: true }));
  for (const [index, { name, run }] of durableConformance.entries())
    it(name, async () => {
      // A worker that dies leaves the folder as it is at that moment: the next one gets a copy, which the dead one cannot reach.
      let folder = join(root, `${index}-0`);
      let kills = 0;
      const dead: DurableBackend[] = [];
      await run({
        open: async () => createLocalBackend({ folder, pollMs: 20 }),
        async kill(backend) {
          dead.push(backend);
          const next = join(root, `${index}-${++kills}`);
          cpSync(folder, next, { recursive: true });
          folder = next;
        },
      });
      for (const backend of dead) void backend.close(); // what it still waits for must not keep the test alive
    });
});
