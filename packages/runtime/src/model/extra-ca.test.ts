import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { loadExtraCa, trustedRoots } from "./extra-ca.ts";

const pem = (name: string): string => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`;

describe("loadExtraCa", () => {
  let folder = "";
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "outrider-ca-"));
    await writeFile(join(folder, "one.pem"), pem("one"));
    await writeFile(join(folder, "two.pem"), pem("two"));
    await writeFile(join(folder, "notes.txt"), "no certificate");
  });
  after(() => rm(folder, { recursive: true }));

  it("reads SSL_CERT_FILE, and with it the file Node would otherwise forget", async () => {
    const one = join(folder, "one.pem");
    const two = join(folder, "two.pem");
    assert.deepEqual(await loadExtraCa({}), []);
    assert.deepEqual(await loadExtraCa({ NODE_EXTRA_CA_CERTS: two }), []);
    assert.deepEqual(await loadExtraCa({ SSL_CERT_FILE: one }), [pem("one")]);
    assert.deepEqual(await loadExtraCa({ SSL_CERT_FILE: one, NODE_EXTRA_CA_CERTS: two }), [pem("one"), pem("two")]);
  });

  it("names the variable and the file that cannot be used", async () => {
    const missing = join(folder, "missing.pem");
    await assert.rejects(loadExtraCa({ SSL_CERT_FILE: missing }), {
      code: "config",
      message: `SSL_CERT_FILE names a file that cannot be read: ENOENT: no such file or directory, open '${missing}'`,
    });
    const notes = join(folder, "notes.txt");
    await assert.rejects(loadExtraCa({ SSL_CERT_FILE: notes }), {
      code: "config",
      message: `SSL_CERT_FILE names ${notes}, which holds no PEM certificate`,
    });
  });
});

describe("trustedRoots", () => {
  it("adds to what Node trusts instead of replacing it", () => {
    const roots = trustedRoots(["mine"]);
    assert.ok(roots.length > 50);
    assert.equal(roots.at(-1), "mine");
  });
});
