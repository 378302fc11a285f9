import assert from "node:assert/strict";
import { dirname } from "node:path";
import { describe, it } from "node:test";
import { laterGroups } from "./later-files.ts";
import { groupsIn } from "./run-later.ts";

const titleOf = (path: string): string | undefined => {
  const group = groupsIn(`/project/${dirname(path)}`.replace(/\/\.$/, ""))(path.replace(/.*\//, ""));
  return group === undefined ? undefined : laterGroups[group]?.title;
};

/** Instances of each group, as their programs know them. */
const told: Readonly<Record<string, string>> = {
  "shells and what they load in a folder":
    ".envrc sub/.envrc .envrc.local .direnv/bin/x .config/mise/config.toml mise.toml .mise.local.toml .tool-versions .bashrc .zshenv .config/fish/config.fish flake.nix devbox.json .direnv",
  "git, hg and their hooks":
    ".husky/pre-commit .githooks/pre-push .pre-commit-config.yaml lefthook.yml lefthook-local.toml .lefthook.json .simple-git-hooks.json simple-git-hooks.cjs .overcommit.yml .lintstagedrc .lintstagedrc.mjs lint-staged.config.js commitlint.config.ts captainhook.json sub/.hg/hgrc .git/rebase-merge/git-rebase-todo .gitconfig .husky",
  "editors and debuggers":
    ".vscode/tasks.json sub/.vscode/settings.json x.code-workspace .idea/runConfigurations/x.xml .run/x.run.xml .zed/tasks.json .devcontainer/devcontainer.json .devcontainer.json .exrc .nvim.lua .dir-locals.el x.sublime-project .gdbinit .vs/tasks.vs.json nbproject/project.xml .gitpod.yml .idea",
  "agents and their instructions":
    ".mcp.json .cursor/rules/x.mdc .cursorrules .windsurf/rules/x.md .windsurfrules .continue/config.yaml .aider.conf.yml AGENTS.md CLAUDE.md GEMINI.md .github/copilot-instructions.md .github/prompts/x.prompt.md .claude/settings.json .outrider/memory/MEMORY.md sub/.outrider/memory/topics/x.md .codex/config.toml .gemini/settings.json .roo/mcp.json .clinerules .junie/guidelines.md .kiro/settings/mcp.json opencode.json",
  "languages and programs when they start":
    "sitecustomize.py usercustomize.py lib/x.pth .venv/lib/python3.12/site-packages/x.pth .venv/bin/python .irbrc .pryrc .Rprofile .Renviron .iex.exs .ghci .psqlrc .user.ini bunfig.toml .ocamlinit",
  "package managers and build wrappers":
    ".npmrc sub/.npmrc .yarnrc.yml .yarn/releases/yarn.cjs .yarn/plugins/x.cjs .pnp.cjs .pnpmfile.cjs pnpm-workspace.yaml package.json composer.json .cargo/config.toml build.rs rust-toolchain.toml .mvn/extensions.xml .mvn/wrapper/maven-wrapper.properties mvnw gradlew gradle/wrapper/gradle-wrapper.properties gradle.properties .bazelrc .bundle/config pip.conf nuget.config NuGet.Config Directory.Build.props binding.gyp",
  "CI and deployment":
    "Jenkinsfile azure-pipelines.yml .travis.yml .drone.yml bitbucket-pipelines.yml .buildkite/pipeline.yml .woodpecker.yml .woodpecker/x.yml .gitea/workflows/x.yml .forgejo/workflows/x.yml .github/workflows/x.yml .github/actions/x/action.yml .gitlab-ci.yml .circleci/config.yml appveyor.yml .cirrus.yml .semaphore/x.yml .teamcity/settings.kts cloudbuild.yaml buildspec.yml .builds/x.yml .tekton/x.yaml netlify.toml vercel.json .releaserc.json .goreleaser.yml Procfile",
  "builds, tests and tasks":
    "Makefile GNUmakefile justfile Justfile .justfile Taskfile.yml Taskfile.dist.yaml Rakefile Gemfile conftest.py tests/conftest.py setup.py noxfile.py tox.ini CMakeLists.txt build.gradle.kts settings.gradle x.csproj vite.config.ts jest.config.js eslint.config.mjs .eslintrc.cjs webpack.config.js karma.conf.js .swcrc .babelrc gulpfile.js Dockerfile docker-compose.yml compose.yaml WORKSPACE MODULE.bazel",
};

describe("files that other programs run by themselves", () => {
  for (const [title, names] of Object.entries(told))
    it(`are told as ${title}`, () => {
      assert.deepEqual(
        names.split(" ").filter((name) => titleOf(name) !== title),
        [],
      );
    });

  it("are told in groups that all have instances", () => {
    assert.deepEqual(
      laterGroups.map(({ title }) => title),
      Object.keys(told),
    );
  });

  it("are not those that somebody has to name", () => {
    const quiet =
      "README.md src/index.ts a.txt main.py lib/config.js tests/test_x.py data.json .gitignore .env node_modules/x/package.json node_modules/x/Makefile .venv/lib/python3.12/site-packages/numpy/conftest.py .claude/tasks/x .claude/memory/x.md .outrider/plans/x.md .github/CODEOWNERS tsconfig.json package-lock.json";
    assert.deepEqual(
      quiet.split(" ").filter((name) => titleOf(name) !== undefined),
      [],
    );
  });
});
