import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { oddGitPlaces } from "./box/odd-names.ts";
import { detectSandbox, detectSandboxFor } from "./detect-sandbox.ts";
import { findBubblewrap } from "./find-bubblewrap.ts";

const top = mkdtempSync(join(tmpdir(), "outrider-detect-"));
after(() => rmSync(top, { recursive: true, force: true }));

/** As a person would try it. */
function worksByHand(): boolean {
  try {
    execFileSync(findBubblewrap() ?? "/no/bwrap", ["--ro-bind", "/", "/", "--unshare-all", "/bin/sh", "-c", ":"], {
      stdio: "ignore",
    });
    return true;
  } catch {
    return false;
  }
}

describe("whether there is a sandbox", () => {
  // Without this, a sandbox that is no longer found would only turn its tests off.
  it("is found out as a person would find it out", async () => {
    assert.equal((await detectSandbox()).available, worksByHand());
    assert.deepEqual(await detectSandboxFor(top), await detectSandbox());
  });
});

describe("git directories in folders whose names are no text", () => {
  it("are found as bytes, where they or something in them changed since", () => {
    const odd = Buffer.concat([Buffer.from(`${top}/`), Buffer.from([0xff, 0xfe])]);
    const within = (folder: Buffer, name: string): Buffer => Buffer.concat([folder, Buffer.from(`/${name}`)]);
    for (const folder of [odd, within(odd, "deep"), within(odd, "deep/.git"), within(odd, "bare"), within(odd, "bare/objects")])
      mkdirSync(folder);
    mkdirSync(within(odd, "bare/refs"));
    writeFileSync(within(odd, "bare/HEAD"), "");
    mkdirSync(within(odd, "linked"));
    writeFileSync(within(odd, "linked/.git"), "gitdir: /elsewhere");
    mkdirSync(join(top, "plain/.git"), { recursive: true });
    const found = oddGitPlaces(top, 0).map((path) => path.subarray(odd.length).toString());
    assert.deepEqual(found.toSorted(), ["/bare", "/deep/.git", "/linked/.git"]);
    assert.deepEqual(oddGitPlaces(top, Date.now() + 60_000), []);
  });
});
