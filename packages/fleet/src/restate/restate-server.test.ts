import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { findServer } from "./restate-server.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "outrider-find-server-")));
after(() => rmSync(scratch, { recursive: true, force: true }));

const system = `restate-server-${process.platform}-${process.arch}`;

/** A binary in a package of this folder. */
function install(folder: string): string {
  mkdirSync(join(folder, "bin"), { recursive: true });
  const binary = join(folder, "bin/restate-server");
  writeFileSync(binary, "");
  return binary;
}

it("finds the engine wherever a package manager has put it", () => {
  const top = (name: string): string => join(scratch, name, "node_modules/@restatedev");
  const flat = install(join(top("flat"), system)); // npm install
  const nested = install(join(top("nested"), "restate-server/node_modules/@restatedev", system)); // npm install -g
  const linked = install(join(scratch, "linked/store/node_modules/@restatedev", system)); // pnpm
  mkdirSync(join(scratch, "linked/store/node_modules/@restatedev/restate-server"));
  mkdirSync(top("linked"), { recursive: true });
  symlinkSync(join(scratch, "linked/store/node_modules/@restatedev/restate-server"), join(top("linked"), "restate-server"));
  const beside = (name: string): string => join(scratch, name, "node_modules/outrider/bin");
  assert.deepEqual(
    ["flat", "nested", "linked"].map((name) => findServer([join(scratch, "missing"), beside(name)])),
    [flat, nested, linked],
  );
  assert.throws(() => findServer([scratch]), /npm install -g @restatedev\/restate-server/);
});
