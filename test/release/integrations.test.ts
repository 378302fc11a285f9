import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { parse } from "yaml";
import { projectRoot } from "../e2e/command.ts";

const read = (path: string): string => readFileSync(join(projectRoot, "integrations", path), "utf8");

describe("the dev container's feature", () => {
  it("has an id that is its folder's, a version, and options with a type and a default that its script takes", () => {
    const feature = JSON.parse(read("devcontainer/outrider/devcontainer-feature.json"));
    assert.deepEqual([feature.id, typeof feature.name], ["outrider", "string"]);
    assert.match(feature.version, /^\d+\.\d+\.\d+$/);
    const script = read("devcontainer/outrider/install.sh");
    for (const [name, option] of Object.entries<{ type: string; default: unknown; description: string }>(feature.options)) {
      assert.match(name, /^[A-Za-z]\w*$/);
      assert.deepEqual([option.type, typeof option.default, typeof option.description], ["string", "string", "string"], name);
      assert.ok(script.includes(`\${${name.toUpperCase()}`), name);
    }
  });

  it("brings the installer along as it is", () => {
    assert.equal(read("devcontainer/outrider/install-outrider.sh"), read("install/install.sh"));
  });
});

describe("scripts of shells", () => {
  for (const path of ["install/install.sh", "devcontainer/outrider/install.sh", "../packages/cli/bin/outrider-sh"])
    it(`${path} is read by sh without complaint`, () => {
      execFileSync("sh", ["-n", join(projectRoot, "integrations", path)]);
    });
});

describe("the image", () => {
  it("is of fixed versions, has no user with rights at its end, and copies only what was checked", () => {
    const lines = read("docker/Dockerfile").split("\n");
    const from = lines.filter((line) => line.startsWith("FROM "));
    for (const line of from) assert.match(line, /^FROM \S+:\d+\.\d+\S*( AS \w+)?$/);
    const last = lines.slice(lines.lastIndexOf(from.at(-1) ?? ""));
    assert.match(last.filter((line) => line.startsWith("USER ")).at(-1) ?? "", /^USER 65532:65532$/);
    assert.ok(last.findIndex((line) => line.startsWith("USER ")) < last.findIndex((line) => line.startsWith("ENTRYPOINT ")));
    assert.deepEqual(
      last.filter((line) => /^(COPY|ADD) /.test(line)),
      ["COPY --from=fetch /made/bin/outrider /usr/local/bin/outrider"],
    );
    assert.ok(existsSync(join(projectRoot, "integrations/install/install.sh")));
  });
});

describe("the formula and the flake", () => {
  it("name the version, the place and a checksum for every platform they know", async () => {
    const { fillTemplate } = await import(pathToFileURL(join(projectRoot, "scripts/release/package-files.mjs")).href);
    for (const path of ["homebrew/outrider.rb.in", "nix/flake.nix.in"]) {
      const platforms: string[] = [];
      const text = fillTemplate(read(path), {
        version: "9.8.7",
        base: "https://example.org/download",
        sumOf: (platform: string) => platforms.push(platform) && "5".repeat(64),
      });
      assert.deepEqual(platforms.sort(), ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"], path);
      assert.doesNotMatch(text, /@[A-Z0-9]+(:[\w-]+)?@/, path);
      assert.ok(text.includes("9.8.7") && text.includes("https://example.org/download/v"), path);
    }
  });
});

describe("the workflow of a release", () => {
  it("may nothing but what its one job says, proves where packages come from, and publishes platforms first", () => {
    const workflow = parse(read("release/workflow.yml"));
    assert.deepEqual(workflow.permissions, {});
    const { permissions, steps } = workflow.jobs.publish;
    assert.deepEqual(permissions, { contents: "write", "id-token": "write", attestations: "write" });
    const commands = steps.map(({ run }: { run?: string }) => run ?? "").join("\n");
    assert.match(commands, /npm publish "\$file" --provenance/);
    assert.ok(commands.indexOf("outrider-cli-*") < commands.indexOf("outrider-runtime-*"));
    assert.ok(commands.indexOf("outrider-runtime-*") < commands.indexOf("outrider-fleet-*"));
    assert.doesNotMatch(commands, /\$\{\{/, "nothing of an event is read by a shell");
  });
});
