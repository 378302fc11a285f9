import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { validate } from "dockerfile-utils";
import { buildSync } from "esbuild";
import { githubRecipe } from "../../packages/cli/src/commands/init/texts.ts";
import { projectRoot, tempFolder } from "../e2e/command.ts";

const integrations = join(projectRoot, "integrations");
const read = (path: string): string => readFileSync(join(projectRoot, path), "utf8");
const blocksOf = (path: string): string[] =>
  [...read(path).matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].flatMap(([, body = ""]) => (body.includes("\njobs:\n") ? [body] : []));

describe("GitHub's own parser", () => {
  const github = loadParsers();

  it("has nothing to say about the action", () => {
    assert.deepEqual(github.action(read("integrations/github-action/action.yml")), []);
    assert.notDeepEqual(github.action("name: x\nruns:\n  using: composit\n  stepps: []\n"), []);
  });

  it("has nothing to say about the workflow of a release, the recipes of the documents, and the one that init writes", () => {
    const recipes = [...blocksOf("docs/ci.md"), ...blocksOf("integrations/github-action/README.md")];
    assert.ok(recipes.length > 5);
    const all = [read("integrations/release/workflow.yml"), githubRecipe("1.2.3"), ...recipes];
    assert.deepEqual(all.flatMap(github.workflow), []);
    assert.notDeepEqual(github.workflow("on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - rn: x\n"), []);
  });
});

it("the language server of Dockerfiles has nothing to say about the image", () => {
  const complaints = (text: string) => validate(text, {}).map(({ message }) => message);
  assert.deepEqual(complaints(read("integrations/docker/Dockerfile")), []);
  assert.notDeepEqual(complaints("FROM x\nRUN\nENTRYPONT a\n"), []);
});

it("the dev container's own command packs the feature", () => {
  const packed = join(tempFolder("feature"), "packed");
  const command = join(projectRoot, "node_modules/@devcontainers/cli/devcontainer.js");
  execFileSync(process.execPath, [command, "features", "package", join(integrations, "devcontainer"), "-o", packed], {
    stdio: "pipe",
  });
  assert.deepEqual(readdirSync(packed).sort(), ["devcontainer-collection.json", "devcontainer-feature-outrider.tgz"]);
  const { features } = JSON.parse(readFileSync(join(packed, "devcontainer-collection.json"), "utf8"));
  const { id, version } = JSON.parse(read("integrations/devcontainer/outrider/devcontainer-feature.json"));
  assert.deepEqual([features.length, features[0].id, features[0].version], [1, id, version]);
});

describe("the readers of other package managers", () => {
  const folder = tempFolder("package-files");
  const version = "9.8.7";
  const platforms = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];
  for (const platform of platforms) writeFileSync(join(folder, `outrider-${version}-${platform}.tar.gz`), platform);
  const sumOf = (platform: string): string => createHash("sha256").update(platform).digest("hex");
  const base = "https://example.invalid/releases";

  it("ruby has nothing to say about the formula", { skip: isMissing("ruby") }, async () => {
    await writePackageFiles({ version, base, out: folder });
    execFileSync("ruby", ["-wc", join(folder, "outrider.rb")], { stdio: "pipe" });
  });

  it("nix reads the flake: each system has the archive of its platform, with its checksum", {
    skip: isMissing("nix-instantiate"),
  }, async () => {
    await writePackageFiles({ version, base, out: folder });
    const state = tempFolder("nix");
    const places = Object.fromEntries(["STORE", "STATE", "LOG", "CONF"].map((name) => [`NIX_${name}_DIR`, join(state, name)]));
    // What stands for the packages of Nix gives back what it is asked to make.
    const expression = `let
      system = { lib = { optionals = _: _: []; licenses.mit = "MIT"; }; stdenv = { isLinux = false; cc.cc.lib = ""; };
        stdenvNoCC.mkDerivation = made: made; fetchurl = source: source; autoPatchelfHook = ""; };
      nixpkgs.legacyPackages = { x86_64-linux = system; aarch64-linux = system; x86_64-darwin = system; aarch64-darwin = system; };
      outputs = (import ${join(folder, "flake.nix")}).outputs { self = {}; inherit nixpkgs; };
      in builtins.mapAttrs (_: { default }: { inherit (default.src) url sha256; }) outputs.packages`;
    const said = execFileSync("nix-instantiate", ["--eval", "--strict", "--json", "--expr", expression], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, HOME: state, ...places },
    });
    const source = (platform: string) => ({
      url: `${base}/v${version}/outrider-${version}-${platform}.tar.gz`,
      sha256: sumOf(platform),
    });
    assert.deepEqual(JSON.parse(said), {
      "x86_64-linux": source("linux-x64"),
      "aarch64-linux": source("linux-arm64"),
      "x86_64-darwin": source("darwin-x64"),
      "aarch64-darwin": source("darwin-arm64"),
    });
  });

  async function writePackageFiles(release: { version: string; base: string; out: string }): Promise<void> {
    const module = await import(pathToFileURL(join(projectRoot, "scripts/release/package-files.mjs")).href);
    module.writePackageFiles(release);
  }
});

it("shellcheck has nothing to say about our scripts", { skip: isMissing("shellcheck") }, () => {
  const names = ["check-actor", "install", "link-report", "run"].map((name) => `integrations/github-action/${name}.sh`);
  const scripts = [...names, "integrations/install/install.sh", "integrations/devcontainer/outrider/install.sh"];
  const all = [...scripts, "packages/cli/bin/outrider-sh", ".ci/run"].map((name) => join(projectRoot, name));
  const { status, stdout } = spawnSync("shellcheck", all, { encoding: "utf8" });
  assert.equal(status, 0, stdout);
});

/** Why a test is skipped; false where the program is there. */
function isMissing(program: string): string | false {
  return spawnSync("sh", ["-c", `command -v ${program}`]).status === 0 ? false : `there is no ${program}`;
}

type Parse = (
  file: { name: string; content: string },
  trace: unknown,
) => { context: { errors: { getErrors(): { message: string }[] } } };

/** Published as modules that import JSON without saying so, which Node does not take: bundled, it does. */
function loadParsers(): { readonly action: (text: string) => string[]; readonly workflow: (text: string) => string[] } {
  const outfile = join(tempFolder("parser"), "parser.cjs");
  const contents =
    'export { parseWorkflow, NoOperationTraceWriter } from "@actions/workflow-parser"; export { parseAction } from "@actions/workflow-parser/actions/action-parser";';
  buildSync({ stdin: { contents, resolveDir: projectRoot }, bundle: true, platform: "node", format: "cjs", outfile });
  const { parseAction, parseWorkflow, NoOperationTraceWriter } = createRequire(outfile)(outfile) as {
    parseAction: Parse;
    parseWorkflow: Parse;
    NoOperationTraceWriter: new () => unknown;
  };
  const errorsOf = (parse: Parse) => (content: string) =>
    parse({ name: "file.yml", content }, new NoOperationTraceWriter())
      .context.errors.getErrors()
      .map(({ message }) => message);
  return { action: errorsOf(parseAction), workflow: errorsOf(parseWorkflow) };
}
