import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { publint } from "publint";

const folder = mkdtempSync(join(tmpdir(), "outrider-packed-"));
/** The suite runs in its own folder. */
const root = join(process.cwd(), "../..");

/** The packages as they would be published, looked at by tools that others look at packages with. */
describe("the packages as others see them", () => {
  const tarballs = new Map<string, string>();
  before(() => {
    for (const name of ["runtime", "cli", "fleet"]) {
      const where = join(root, "packages", name);
      const flags = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
      const [packed] = JSON.parse(
        execFileSync("npm", flags, { cwd: where, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
      );
      tarballs.set(name, join(folder, packed.filename));
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const name of ["runtime", "cli", "fleet"])
    it(`publint has nothing to say about ${name}`, async () => {
      const tarball = readFileSync(tarballs.get(name) ?? "");
      const { messages } = await publint({ pack: { tarball: new Uint8Array(tarball).buffer }, level: "suggestion" });
      assert.deepEqual(messages, []);
    });

  for (const name of ["runtime", "fleet"])
    it(`every entry of ${name} has types, for Node and for bundlers`, () => {
      const words = [tarballs.get(name) ?? "", "--profile", "esm-only", "--format", "ascii", "--no-color"];
      const { status, stdout } = spawnSync(join(process.cwd(), "node_modules/.bin/attw"), words, { encoding: "utf8" });
      assert.equal(status, 0, stdout);
    });
});
