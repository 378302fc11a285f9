import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PermissionMode } from "../protocol/permission.ts";
import { decide } from "./decide.ts";
import { lintRule } from "./lint-rule.ts";
import type { Decision, Policy } from "./policy.ts";
import { presetNames, unknownPreset } from "./preset-names.ts";
import { rulesOfPreset } from "./presets.ts";
import { parseRule } from "./rules.ts";
import { checkRuleTool } from "./tool-names.ts";

type Given = { mode?: PermissionMode; allow?: string[]; ask?: string[]; deny?: string[] };

async function judge(command: string, { mode = "default", allow = [], ask = [], deny = [] }: Given): Promise<Decision> {
  const policy: Policy = {
    mode,
    allow: allow.map((text) => parseRule(text, "--allow")),
    ask: ask.map((text) => parseRule(text)),
    deny: deny.map((text) => parseRule(text)),
    base: { root: "/repo", home: "/home/me" },
    readable: [],
    ...(mode === "sandboxed" && { box: async () => ({ reaches: () => false, writable: [] }) }),
  };
  return decide(policy, [{ tool: "Bash", kind: "run", resource: command }]);
}

const dev = { allow: ["preset:dev"] };

describe("preset dev", () => {
  it("is one of those there are, and there are no others", () => {
    assert.equal(rulesOfPreset("nope"), undefined);
    assert.equal(rulesOfPreset("toString"), undefined);
    assert.deepEqual(rulesOfPreset("swift"), ["Bash(swift build:*)", "Bash(swift test:*)"]);
    assert.ok((rulesOfPreset("dev")?.length ?? 0) > 100);
  });

  for (const command of [
    ...[
      "npm test",
      "npm t",
      "npm run build",
      "npm run test:unit -- --watch=false",
      "npm run lint-fix",
      "npm test 2>&1 | tail -40",
    ],
    ...[
      "npx tsc --noEmit",
      "npx vitest run src/a.test.ts",
      "npx eslint . --fix",
      "npx prettier --write .",
      "npx playwright test",
    ],
    ...[
      "pnpm test",
      "pnpm -r build",
      "pnpm lint",
      "pnpm exec tsc --noEmit",
      "pnpm ls",
      "yarn build",
      "yarn jest",
      "bun test",
      "bunx tsc",
    ],
    ...[
      "npm -w web test",
      "pnpm --filter web run build",
      "make -j test",
      "ctest --test-dir build --output-on-failure",
      "ninja -C build",
    ],
    ...["./gradlew check --info", "./mvnw -q -B verify", "dotnet test --no-build", "dotnet format --verify-no-changes"],
    ...["bin/rails test", "composer run lint", "php artisan test"],
    ...["cargo test", "cargo clippy --all-targets", "cargo fmt", "cargo tree", "cargo metadata --no-deps", "cargo nextest run"],
    ...["go test ./...", "go vet ./...", "go list ./...", "gofmt -l .", "golangci-lint run"],
    ...[
      "pytest -q tests/test_a.py",
      "python3 -m pytest",
      "python -m unittest discover",
      "ruff check .",
      "uv run pytest -x",
      "mypy src",
    ],
    ...[
      "make",
      "make test",
      "make lint",
      "just test",
      "task build",
      "mise run test",
      "mise run lint:fix",
      "ctest",
      "cmake --build build",
    ],
    ...["./gradlew test", "gradle build", "mvn test", "./mvnw test", "mvn -q test", "dotnet test", "dotnet build"],
    ...["bundle exec rspec", "rubocop -a", "vendor/bin/phpunit", "mix test", "deno test", "deno task lint", "swift build"],
    // The narrowest test that covers a change.
    ...["node --test", "node --test test/a.test.js", "node --test --test-name-pattern=x test/", "deno test a.ts --filter x"],
    ...["tsc --noEmit", "prettier --check .", "tox", "turbo run test", "yarn workspace a test", "yarn workspace @a/b run lint"],
    ...["npm --prefix packages/a test", "npm --prefix a run build"],
    ...["cd packages && npm test", "npm run build && npm test"],
  ])
    it(`lets ${command} run`, async () => {
      assert.equal((await judge(command, {})).effect, "ask");
      const { effect, reason } = await judge(command, dev);
      assert.equal(effect, "allow", reason);
    });

  for (const command of [
    ...[
      "npm publish",
      "npm install x",
      "npm run deploy",
      "npm run release",
      "npx some-package",
      "npm exec tsc",
      "npm test --prefix /x",
    ],
    ...["pnpm publish", "pnpm add x", "yarn publish", "yarn add x", "bun install", "bunx x"],
    ...[
      "cargo publish",
      "cargo install x",
      "cargo run",
      "cargo test --config x.toml",
      "go run .",
      "go install x",
      "go test -exec ./x",
    ],
    ...[
      "make install",
      "make deploy",
      "make test -C /other",
      "make -f evil.mk test",
      "just deploy",
      "mise run deploy",
      "mise install",
    ],
    ...[
      "python3 x.py",
      "python3 -m pip install x",
      "uv run x.py",
      "uv pip install x",
      "./gradlew publish",
      "mvn deploy",
      "dotnet run",
    ],
    // A further word is a further target, and a script may begin like another and do more.
    ...[
      "make test deploy",
      "mvn test deploy",
      "mvn compile install",
      "gradle build publish",
      "just test deploy",
      "task test deploy",
    ],
    ...["mise run test ::: deploy", "rake test release", "tox -e publish", "nox -s release", "npm run build-and-publish"],
    ...["cmake --build . --target install", "dotnet build /t:Publish", "deno test -A", "deno test https://example.com/x.ts"],
    ...["node --test /elsewhere/x.js", "npm run test-and-deploy", "yarn build-and-publish"],
    ...["node --test ../x.js", "node --test --require ./x.js", "node --test -e 1", "node --test ~/x.js", "node --test $X"],
    ...["deno test ../x.ts", "deno test --allow-all a.ts", "deno test jsr:@a/b", "turbo run test deploy", "turbo run deploy"],
    ...["yarn workspace a exec x test", "yarn workspace a deploy", "yarn workspace ../a test", "yarn workspace -x test"],
    ...["npm --prefix /x test", "npm --prefix ../x test", "npm --prefix a run deploy", "npm --prefix a exec x test"],
    ...["npm --prefix a test --prefix /x", "tox -e publish"],
    ...["npm test; rm -rf /", "npm test && git push", "sudo make test", "PATH=. npm test", "npm test > /etc/x", "node -e 1"],
  ])
    it(`is no word for ${command}`, async () => {
      assert.notEqual((await judge(command, dev)).effect, "allow");
    });

  it("says which of its rules decided, and where the preset was named", async () => {
    const { rule, source, by } = await judge("npm run test:unit", dev);
    assert.deepEqual({ rule, source, by }, { rule: "Bash(npm run test:unit:*)", source: "--allow, preset:dev", by: "rule" });
  });

  it("keeps what it names in the box where the mode is sandboxed", async () => {
    const outside = await judge("npm test", { mode: "sandboxed", allow: ["Bash(npm test)"] });
    const boxed = await judge("npm test", { mode: "sandboxed", ...dev });
    assert.deepEqual([outside.by, boxed.effect, boxed.by], ["rule", "allow", undefined]);
  });

  it("is under deny and ask rules, and may be one", async () => {
    assert.equal((await judge("npm test", { ...dev, deny: ["Bash(npm test:*)"] })).effect, "deny");
    assert.equal((await judge("npm test", { ...dev, ask: ["Bash(npm test:*)"] })).effect, "ask");
    assert.equal((await judge("npm test", { mode: "bypassPermissions", deny: ["preset:npm"] })).effect, "deny");
    assert.equal((await judge("npm test", { mode: "plan", ...dev })).effect, "deny");
  });
});

describe("presets", () => {
  it("stand for rules that can be read, and are wide nowhere", () => {
    for (const name of presetNames) {
      const rules = rulesOfPreset(name) ?? [];
      assert.ok(rules.length > 1, name);
      // `make test` and interpreters with what they are to do are named on purpose.
      const wide = rules.flatMap((rule) => lintRule(rule).map(({ message }) => `${rule}: ${message}`));
      assert.deepEqual(
        wide.filter(
          (line) =>
            !/^Bash\((?:make|npx|bunx|uv run|poetry run|pipenv run|pdm run|hatch run|bundle exec|deno task|pnpm exec|just|task|mise) /.test(
              line,
            ),
        ),
        [],
      );
    }
  });

  it("are known by their names", () => {
    assert.equal(unknownPreset("cargo"), undefined);
    assert.match(unknownPreset("crago") ?? "", /did you mean cargo\?/);
    assert.throws(
      () => checkRuleTool("preset:crago", { where: "x", code: "config" }),
      /There is no preset "crago"; did you mean cargo\?/,
    );
    assert.doesNotThrow(() => checkRuleTool("preset:dev", { where: "x", code: "config" }));
  });
});

describe("a deny rule", () => {
  for (const command of [
    "node /usr/lib/node_modules/npm/bin/npm-cli.js publish",
    "node /usr/bin/npm publish --tag x",
    "node --no-warnings .yarn/releases/../npm.cjs publish",
    "bash ./npm publish",
    "node /usr/lib/node_modules/npm/bin/npx-cli.js npm publish",
    "python3 -m npm publish",
  ])
    it(`for npm publish forbids ${command}`, async () => {
      const given: Given = { mode: "bypassPermissions", deny: ["Bash(npm publish:*)"] };
      assert.equal((await judge(command, given)).effect, "deny");
      assert.equal((await judge(command.replaceAll("publish", "version"), given)).effect, "allow");
    });

  it("for twine and pip holds for their modules", async () => {
    const given: Given = { mode: "bypassPermissions", deny: ["Bash(twine upload:*)", "Bash(pip install:*)"] };
    for (const command of [
      ...[
        "-mpip",
        "-W ignore -m pip",
        "-Wignore -mpip",
        "-X dev -m pip",
        "-Im pip",
        "-sSEm pip",
        "--check-hash-based-pycs never -m pip",
      ].map((how) => `python3 ${how} install x`),
      "python3 -m twine upload x",
      "python -m pip install x",
      "python3 /usr/bin/pip install x",
    ])
      assert.equal((await judge(command, given)).effect, "deny", command);
  });
});
