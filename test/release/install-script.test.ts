import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { projectRoot, tempFolder } from "../e2e/command.ts";

const script = join(projectRoot, "integrations/install/install.sh");
const version = "9.8.7";
const files = new Map<string, string | Buffer>();
const server = createServer((request, response) => {
  const content = files.get(request.url ?? "");
  response.writeHead(content === undefined ? 404 : 200).end(content);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => server.close());
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const libc = existsSync("/lib64/ld-linux-x86-64.so.2") || existsSync("/lib/ld-linux-aarch64.so.1") ? "" : "-musl";
const archive = `outrider-${version}-${process.platform}-${process.arch}${process.platform === "linux" ? libc : ""}.tar.gz`;
const ran = join(tempFolder("ran"), "ran");

/** A release whose command says that it ran. */
function publish(options: { readonly sum?: string } = {}): { key: string; sums: string } {
  const folder = tempFolder("published");
  const top = join(folder, `outrider-${version}`);
  mkdirSync(top);
  writeFileSync(join(top, "outrider"), `#!/bin/sh\ntouch '${ran}'\necho ${version}\n`, { mode: 0o755 });
  execFileSync("tar", ["-czf", join(folder, archive), `outrider-${version}`], { cwd: folder });
  const content = readFileSync(join(folder, archive));
  const sums = `${options.sum ?? createHash("sha256").update(content).digest("hex")}  ${archive}\n`;
  writeFileSync(join(folder, "SHA256SUMS"), sums);
  const key = join(folder, "key");
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
  execFileSync("ssh-keygen", ["-Y", "sign", "-q", "-f", key, "-n", "outrider-release", join(folder, "SHA256SUMS")]);
  files.set(`/v${version}/${archive}`, content);
  files.set(`/v${version}/SHA256SUMS`, sums);
  files.set(`/v${version}/SHA256SUMS.sig`, readFileSync(join(folder, "SHA256SUMS.sig")));
  return { key, sums };
}

type Ended = { code: number; said: string; isInstalled: boolean; hasRun: boolean };

async function install(env: Record<string, string> = {}): Promise<Ended> {
  const prefix = tempFolder("prefix");
  execFileSync("rm", ["-f", ran]);
  const given = { PATH: process.env["PATH"] ?? "", HOME: prefix, OUTRIDER_PREFIX: prefix };
  const words = { OUTRIDER_VERSION: version, OUTRIDER_BASE_URL: base };
  return await new Promise((resolve) => {
    execFile("sh", [script], { env: { ...given, ...words, ...env } }, (error, stdout, stderr) =>
      resolve({
        code: Number(error?.code ?? 0),
        said: stdout + stderr,
        isInstalled: existsSync(join(prefix, "bin/outrider")),
        hasRun: existsSync(ran),
      }),
    );
  });
}

function signersOf(key: string): string {
  const file = join(tempFolder("signers"), "allowed");
  writeFileSync(file, `outrider ${readFileSync(`${key}.pub`, "utf8")}`);
  return file;
}

describe("install.sh", () => {
  it("installs what the checksums name", async () => {
    publish();
    const { said, ...ended } = await install();
    assert.deepEqual(ended, { code: 0, isInstalled: true, hasRun: true }, said);
    assert.match(said, /^installed: .*\/bin\/outrider \(9\.8\.7\)\n/);
  });

  it("neither installs nor runs anything when the checksum is another one", async () => {
    publish({ sum: "0".repeat(64) });
    const { said, ...ended } = await install();
    assert.deepEqual(ended, { code: 1, isInstalled: false, hasRun: false }, said);
    assert.match(said, /is not what SHA256SUMS says/);
  });

  it("nor when the checksums do not name the file, or are not there", async () => {
    publish();
    files.set(`/v${version}/SHA256SUMS`, `${"0".repeat(64)}  something-else.tar.gz\n`);
    assert.match((await install()).said, /does not name outrider-/);
    files.delete(`/v${version}/SHA256SUMS`);
    const { said, ...ended } = await install();
    assert.deepEqual(ended, { code: 1, isInstalled: false, hasRun: false }, said);
  });

  it("asks for a signature where signers are given: theirs passes, another one does not", async () => {
    const { key } = publish();
    assert.equal((await install({ OUTRIDER_SIGNERS: signersOf(key) })).code, 0);
    const { key: other } = publish();
    publish();
    const { said, ...ended } = await install({ OUTRIDER_SIGNERS: signersOf(other) });
    assert.deepEqual(ended, { code: 1, isInstalled: false, hasRun: false }, said);
    assert.match(said, /is not signed by one of/);
  });

  it("fetches from elsewhere than this machine by https only, and takes nothing but a version for one", async () => {
    assert.match((await install({ OUTRIDER_BASE_URL: "http://example.invalid" })).said, /must begin with https/);
    assert.match((await install({ OUTRIDER_VERSION: "1/../../x" })).said, /is no version/);
  });
});
