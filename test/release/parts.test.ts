import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { projectRoot, tempFolder } from "../e2e/command.ts";

/** Scripts of the repository, which have no types. */
const load = async (name: string) => await import(pathToFileURL(join(projectRoot, "scripts/release", name)).href);

describe("a release's changelog", () => {
  const text = "# Changes\n\n## Unreleased\n\n- New.\n\n## 0.1.0\n\n- First.\n";

  it("has what was unreleased under the version and its day, and room for what comes", async () => {
    const { cutChangelog } = await load("changelog.mjs");
    assert.deepEqual(cutChangelog(text, { version: "0.2.0", date: "2026-12-01" }), {
      section: "- New.",
      changelog: "# Changes\n\n## Unreleased\n\n## 0.2.0 (2026-12-01)\n\n- New.\n\n## 0.1.0\n\n- First.\n",
    });
  });

  it("is refused when nothing is unreleased, or the version is there", async () => {
    const { cutChangelog } = await load("changelog.mjs");
    const { changelog } = cutChangelog(text, { version: "0.2.0", date: "2026-12-01" });
    assert.throws(() => cutChangelog(changelog, { version: "0.3.0", date: "2026-12-02" }), /Nothing is unreleased/);
    assert.throws(() => cutChangelog(text, { version: "0.1.0", date: "2026-12-02" }), /has 0\.1\.0 already/);
  });
});

describe("a release's version", () => {
  it("is written wherever ours stands: packages, their dependencies on each other, the lock file, integrations, documents", async () => {
    const { setVersion } = await load("versions.mjs");
    const copy = tempFolder("versions");
    const files = readdirSync(join(projectRoot, "packages")).map((place) => `packages/${place}/package.json`);
    const { version: before } = JSON.parse(readFileSync(join(projectRoot, "packages/cli/package.json"), "utf8"));
    for (const file of [...files, "package-lock.json", "integrations", "docs"])
      cpSync(join(projectRoot, file), join(copy, file), { recursive: true });
    const changed: string[] = setVersion(copy, "9.8.7");
    const read = (file: string) => JSON.parse(readFileSync(join(copy, file), "utf8"));
    assert.deepEqual(
      files.map((file) => read(file).version),
      files.map(() => "9.8.7"),
    );
    assert.equal(read("packages/fleet/package.json").dependencies["@outrider/runtime"], "9.8.7");
    const told = changed.map((file) => readFileSync(file, "utf8"));
    for (const word of [
      "OUTRIDER_VERSION: 9.8.7",
      "outrider-fleet:9.8.7",
      "global outrider@9.8.7",
      '"package": "outrider@9.8.7"',
    ])
      assert.ok(
        told.some((text) => text.includes(word)),
        word,
      );
    const names = readdirSync(copy, { recursive: true, encoding: "utf8" }).filter((name) =>
      /\.(md|ya?ml|json|toml)$|Dockerfile$/.test(name),
    );
    const stale = names.filter((name) =>
      new RegExp(`outrider(?:-fleet)?[@:]${before}\\b|OUTRIDER_VERSION\\W+${before}\\b`).test(
        readFileSync(join(copy, name), "utf8"),
      ),
    );
    assert.deepEqual(stale, []);
    assert.equal(read("packages/cli/package.json").devDependencies["@outrider/runtime"], "9.8.7");
    assert.equal(read("package-lock.json").packages["packages/cli"].version, "9.8.7");
    assert.match(readFileSync(join(copy, "integrations/github-action/action.yml"), "utf8"), /default: 9\.8\.7\n/);
  });
});

describe("a release's checksums", () => {
  it("are signed with a key of the user's, and nobody else's passes", async () => {
    const { signChecksums, writeChecksums } = await load("checksums.mjs");
    const folder = tempFolder("sums");
    writeFileSync(join(folder, "a.tgz"), "a");
    writeChecksums(folder);
    assert.equal(
      readFileSync(join(folder, "SHA256SUMS"), "utf8"),
      "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a.tgz\n",
    );
    const keys = tempFolder("keys");
    const [own, other] = ["own", "other"].map((name) => {
      execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", join(keys, name)]);
      return join(keys, name);
    }) as [string, string];
    signChecksums(folder, own);
    const verdict = (key: string, namespace = "outrider-release"): boolean => {
      const signers = join(keys, "allowed");
      writeFileSync(signers, `outrider ${readFileSync(`${key}.pub`, "utf8")}`);
      const words = ["-Y", "verify", "-f", signers, "-I", "outrider", "-n", namespace, "-s", join(folder, "SHA256SUMS.sig")];
      return spawnSync("ssh-keygen", words, { input: readFileSync(join(folder, "SHA256SUMS")) }).status === 0;
    };
    assert.deepEqual([verdict(own), verdict(other), verdict(own, "file")], [true, false, false]);
  });
});

describe("a release's bill of materials", () => {
  it("names what the notices name, price data too, and is the same for the same release", async () => {
    const { namesInNotices } = await load("standalone-notices.mjs");
    const { toSbom } = await load("sbom.mjs");
    const notices = readFileSync(join(projectRoot, "packages/cli/dist/THIRD-PARTY-NOTICES.txt"), "utf8");
    const components = namesInNotices(notices);
    const facts = { name: "outrider", version: "1.0.0", components, at: "2026-12-01T00:00:00.000Z" };
    const sbom = toSbom(facts);
    assert.deepEqual(sbom, toSbom(facts));
    const names = sbom.components.map(({ name }: { name: string }) => name);
    for (const name of ["@pydantic/genai-prices", "unbash", "preact", "zod"])
      assert.ok(names.includes(name), `${name}: ${names}`);
    assert.deepEqual(
      [sbom.bomFormat, sbom.specVersion, sbom.dependencies[0].dependsOn.length],
      ["CycloneDX", "1.6", names.length],
    );
    const refs = sbom.components.map((part: { "bom-ref": string }) => part["bom-ref"]);
    assert.equal(new Set(refs).size, refs.length);
  });
});

describe("a release's archives", () => {
  /** Made of the same command at another time, in another place, by somebody with other habits. */
  async function make(umask: number): Promise<Record<string, string>> {
    const { writeArchive, writeDebianPackage } = await load("archives.mjs");
    const [out, place] = [tempFolder("archives"), tempFolder("made")];
    const binary = join(place, "outrider-linux-x64");
    writeFileSync(binary, "#!/bin/sh\necho 9.8.7\n");
    const platform = { name: "linux-x64", os: "linux", cpu: "x64", libc: "glibc" };
    const release = { binary, platform, version: "9.8.7", notices: "Notices.\n", epoch: 1_790_000_000, out };
    const before = process.umask(umask);
    try {
      writeArchive(release);
      if (hasDpkg) writeDebianPackage(release);
    } finally {
      process.umask(before);
    }
    const names = ["outrider-9.8.7-linux-x64.tar.gz", ...(hasDpkg ? ["outrider_9.8.7_amd64.deb"] : [])];
    return Object.fromEntries(names.map((name) => [name, join(out, name)]));
  }
  const hasDpkg = spawnSync("dpkg-deb", ["--version"]).status === 0;
  const bytesOf = (files: Record<string, string>) => Object.values(files).map((file) => readFileSync(file).toString("base64"));

  it("are the same to the byte when they are made again", async () => {
    const first = await make(0o022);
    assert.deepEqual(bytesOf(await make(0o002)), bytesOf(first));
  });

  it("have the command where each kind is looked for, and the licences beside it", async () => {
    const { "outrider-9.8.7-linux-x64.tar.gz": archive, "outrider_9.8.7_amd64.deb": debian } = await make(0o022);
    const listed = execFileSync("tar", ["-tzf", String(archive)], { encoding: "utf8" })
      .trim()
      .split("\n");
    const top = "outrider-9.8.7/";
    assert.deepEqual(listed, [top, `${top}LICENSE`, `${top}THIRD-PARTY-NOTICES.txt`, `${top}outrider`]);
    if (debian === undefined) return;
    const place = tempFolder("installed");
    execFileSync("dpkg-deb", ["--extract", debian, place]);
    assert.equal(execFileSync(join(place, "usr/bin/outrider"), { encoding: "utf8" }), "9.8.7\n");
    const documents = readdirSync(join(place, "usr/share/doc/outrider")).sort();
    assert.deepEqual(documents, ["THIRD-PARTY-NOTICES.txt", "copyright"]);
    const field = (name: string): string => execFileSync("dpkg-deb", ["--field", debian, name], { encoding: "utf8" }).trim();
    assert.deepEqual([field("Package"), field("Version"), field("Architecture")], ["outrider", "9.8.7", "amd64"]);
  });
});

describe("the program of the npm package", () => {
  const place = tempFolder("npm-bin");
  const modules = join(place, "node_modules");
  cpSync(join(projectRoot, "packages/cli/bin"), join(modules, "outrider/bin"), { recursive: true });
  mkdirSync(join(modules, ".bin"), { recursive: true });
  execFileSync("ln", ["-s", "../outrider/bin/outrider-sh", join(modules, ".bin/outrider")]);
  const nodeCalls = join(place, "path");
  mkdirSync(nodeCalls);
  writeFileSync(join(nodeCalls, "node"), '#!/bin/sh\nshift\necho "node: $*"\n', { mode: 0o755 });
  const call = (env: Record<string, string> = {}, words = ["-p", "two words"]): string =>
    execFileSync(join(modules, ".bin/outrider"), words, {
      encoding: "utf8",
      env: { PATH: `${nodeCalls}:/usr/bin:/bin`, ...env },
    });

  it("takes Node where there is no package for the platform, and the standalone command where there is one", () => {
    assert.equal(call(), "node: -p two words\n");
    for (const libc of ["", "-musl"]) {
      const bin = join(modules, `@outrider/cli-${process.platform}-${process.arch}${libc}/bin`);
      mkdirSync(bin, { recursive: true });
      writeFileSync(join(bin, "outrider"), '#!/bin/sh\necho "standalone: $*"\n', { mode: 0o755 });
    }
    assert.equal(call(), "standalone: -p two words\n");
    assert.equal(call({ OUTRIDER_RUNTIME: "node" }), "node: -p two words\n");
    // With the package of batches an engine may be installed, which the standalone command cannot load.
    assert.equal(call({}, ["batch", "tasks.jsonl"]), "standalone: batch tasks.jsonl\n");
    mkdirSync(join(modules, "@outrider/fleet"), { recursive: true });
    assert.equal(call({}, ["batch", "tasks.jsonl"]), "node: batch tasks.jsonl\n");
    assert.equal(call({}, ["-p", "batch"]), "standalone: -p batch\n");
  });
});
