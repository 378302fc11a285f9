import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { build } from "esbuild";
import { bin, isStandalone, tempFolder } from "../e2e/command.ts";

const execute = promisify(execFile);
const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();

describe("requests to models in the standalone command", { skip: !isStandalone }, () => {
  it("pass the tests of the client, in its own runtime and over its own way", async () => {
    const folder = tempFolder("http");
    const { metafile } = await build({
      entryPoints: [join(root, "packages/runtime/src/model/http.test.ts")],
      outfile: join(folder, "http.test.mjs"),
      bundle: true,
      format: "esm",
      platform: "node",
      metafile: true,
      logLevel: "error",
    });
    assert.ok(Object.keys(metafile.inputs).some((path) => path.endsWith("send-with-fetch.ts")));
    const env = { PATH: process.env["PATH"], HOME: folder, BUN_BE_BUN: "1" };
    const { stderr } = await execute(bin, ["test", "--timeout", "60000", "./http.test.mjs"], { cwd: folder, env }).catch(
      (failure) => failure,
    );
    assert.match(stderr, /^ [1-9]\d+ pass$/m);
    assert.match(stderr, /^ 0 fail$/m, stderr);
  });
});
