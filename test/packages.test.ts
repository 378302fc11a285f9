import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { after, before, describe, it } from "node:test";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const folder = mkdtempSync(join(tmpdir(), "outrider-tarballs-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const guides = ["CHANGELOG.md", "docs/permissions.md", "docs/settings.md", "docs/contract.md"];
const packages = [
  { name: "outrider", place: "packages/cli", documents: guides },
  { name: "@outrider/runtime", place: "packages/runtime", documents: guides },
  { name: "@outrider/fleet", place: "packages/fleet", documents: [] },
];

before(() => {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const wanted = packages.flatMap(({ place }) => ["--workspace", place]);
  const packed = JSON.parse(
    execFileSync("npm", [...args, ...wanted], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
  );
  for (const { name, filename } of packed) {
    const place = join(folder, "packages", name);
    mkdirSync(place, { recursive: true });
    execFileSync("tar", ["-xzf", join(folder, filename), "-C", place, "--strip-components=1"]);
  }
});

function filesOf(place: string): string[] {
  return readdirSync(place, { recursive: true, encoding: "utf8" }).filter((path) => statSync(join(place, path)).isFile());
}

/** What only the repository has; documents may lead there all the same. */
const onlyInRepository = /^(README|AGENTS|CONTRIBUTING|REVIEW)\.md$|^(bench|integrations|packages|scripts|test|torture)\//;

for (const { name, documents } of packages)
  describe(`the tarball of ${name}`, () => {
    const place = join(folder, "packages", name);
    const manifest = () => JSON.parse(readFileSync(join(place, "package.json"), "utf8"));

    it("says what it is, for whom, and under which licence", () => {
      const { description, keywords, license, engines, type, files, private: isPrivate, scripts } = manifest();
      assert.ok(description.length > 30 && keywords.length >= 8, description);
      assert.deepEqual(keywords, [...keywords].sort());
      assert.deepEqual({ license, engines, type }, { license: "MIT", engines: { node: ">=20.19" }, type: "module" });
      assert.deepEqual([isPrivate, scripts], [undefined, undefined]);
      for (const file of files.filter((path: string) => !path.startsWith("!"))) assert.ok(existsSync(join(place, file)), file);
    });

    it("has its documents, and they lead only to what is in it or in the repository", () => {
      const files = filesOf(place);
      for (const file of ["README.md", "LICENSE", ...documents]) assert.ok(files.includes(file), file);
      const lost = files
        .filter((path) => path.endsWith(".md"))
        .flatMap((path) => {
          const links = [...readFileSync(join(place, path), "utf8").matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)];
          return links.flatMap(([, target = ""]) => {
            const found = relative(place, join(place, dirname(path), target));
            const isThere = existsSync(join(place, found)) || (name === "outrider" && existsSync(join(root, found)));
            return isThere || onlyInRepository.test(found) ? [] : [`${path}: ${target}`];
          });
        });
      assert.deepEqual(lost, []);
    });

    it("holds no tests, no maps to what is not in it, and nothing of the machine it was built on", () => {
      const files = filesOf(place);
      assert.deepEqual(
        files.filter((path) => !path.startsWith("examples/") && /\.test\.|tsbuildinfo|\.log$/.test(path)),
        [],
      );
      for (const path of files.filter((file) => file.endsWith(".map"))) {
        const { sources, sourceRoot = "" } = JSON.parse(readFileSync(join(place, path), "utf8"));
        const own = sources.filter((one: string) => !/node_modules\/|^[\w-]+:/.test(one));
        assert.ok(own.length >= sources.length / 2, `${path} leads to other people's sources, which are not here`);
        for (const source of own) assert.ok(existsSync(join(place, dirname(path), sourceRoot, source)), `${path}: ${source}`);
      }
      for (const path of files) assert.ok(!readFileSync(join(place, path), "utf8").includes(root), path);
    });
  });

describe("the library's tarball", () => {
  const place = join(folder, "packages/@outrider/runtime");

  it("leads every import to code and to types, types first", () => {
    const { exports, main, types, sideEffects } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
    for (const [subpath, target] of Object.entries<Record<string, string>>(exports)) {
      assert.deepEqual(Object.keys(target), ["outrider-source", "types", "default"], subpath);
      for (const path of Object.values(target)) assert.ok(existsSync(join(place, path)), `${subpath}: ${path}`);
    }
    assert.deepEqual([main, types, sideEffects], [exports["."].default, exports["."].types, false]);
  });

  it("can be required by older programs too, where Node can", () => {
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
    const canRequire = major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);
    const script = `const { createQuery } = require(${JSON.stringify(join(root, "packages/runtime/dist/index.js"))}); console.log(typeof createQuery)`;
    if (canRequire)
      assert.equal(execFileSync(process.execPath, ["--no-warnings", "-e", script], { encoding: "utf8" }), "function\n");
  });
});

describe("the command's tarball", () => {
  const place = join(folder, "packages/outrider");

  it("has a program that starts", () => {
    const { bin } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
    const program = join(place, bin.outrider);
    assert.match(readFileSync(program, "utf8"), /^#!\/usr\/bin\/env node\n/);
    assert.ok((statSync(program).mode & 0o111) !== 0);
    assert.match(execFileSync(process.execPath, [program, "--version"], { encoding: "utf8" }), /^\d+\.\d+\.\d+/m);
  });
});
