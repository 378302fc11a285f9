/** Files that one kind of program reads by itself and that can name something to run. Names are in lower letters; `*` stands for anything. */
export type LaterGroup = {
  /** What runs them, as the answer says it. */
  readonly title: string;
  readonly names?: string;
  /** Everything below these counts. */
  readonly folders?: string;
};

/** By how little the user has to do for it, least first: that is the order in which they are told. */
export const laterGroups: readonly LaterGroup[] = [
  {
    // A step into the folder, or a new terminal, is enough.
    title: "shells and what they load in a folder",
    names:
      ".envrc .envrc.* .autoenv .autoenv.zsh .autoenv_leave.zsh .mise.toml mise.toml .mise.*.toml mise.*.toml .rtx.toml .tool-versions .prototools " +
      ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_env .profile .zshrc .zshenv .zprofile .zlogin .zlogout .zshrc.* .kshrc " +
      ".mkshrc .cshrc .tcshrc .login .logout .inputrc .xprofile .xinitrc .xsession .xsessionrc .pam_environment .screenrc .tmux.conf " +
      "devenv.nix devenv.yaml devbox.json flake.nix shell.nix .pkgx.yaml .pkgx.yml",
    folders:
      ".direnv .mise .config/mise .config/fish .config/systemd .config/autostart .config/environment.d .config/nushell .shadowenv.d .devbox .devenv .ssh",
  },
  {
    // The next git command starts them.
    title: "git, hg and their hooks",
    names:
      ".gitconfig hgrc .hgrc git-rebase-todo .pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml prek.toml hk.pkl lefthook.* " +
      ".lefthook.* lefthook-local.* .lefthook-local.* .overcommit.yml .simple-git-hooks.* simple-git-hooks.* .lintstagedrc .lintstagedrc.* " +
      "lint-staged.config.* .huskyrc .huskyrc.* husky.config.* .ghooksrc captainhook.json grumphp.yml .commitlintrc .commitlintrc.* " +
      "commitlint.config.* .czrc .cz.* .githooks.json .git-hooks.json cog.toml .pre-commit",
    folders:
      ".husky .githooks .git-hooks .git_hooks .hooks .lefthook .lefthook-local .config/git .config/hg .cargo-husky .hg .jj .svn .bzr .yorkie",
  },
  {
    // Opening the folder, or a file in it, is enough.
    title: "editors and debuggers",
    names:
      "*.code-workspace *.sublime-project *.sublime-settings *.sublime-build .vimrc .gvimrc .exrc .nvimrc .nvim.lua .lvimrc .vimrc.* .vimspector.json " +
      ".ycm_extra_conf.py .emacs .dir-locals.el .dir-locals-2.el .projectile .kakrc .helix.toml .project .classpath .factorypath *.iml .replit " +
      "replit.nix .gitpod.yml .gitpod.dockerfile .devcontainer.json devcontainer.json .stackblitzrc .gdbinit gdbinit .lldbinit .lldbinit-* .pdbrc " +
      ".pdbrc.py .perldb .jdbrc .clangd .ccls .nova .solargraph.yml .rdbgrc .byebugrc",
    folders:
      ".vscode .vscode-server .vscode-insiders .idea .run .zed .fleet .nova .vim .nvim .emacs.d .helix .kak .lapce .theia .vs .settings .eclipse " +
      "nbproject .devcontainer .idx .codesandbox .codeclimate .gitpod .config/nvim .config/helix .config/zed .lsp .metals .bloop",
  },
  {
    // They are obeyed when an agent is started here.
    title: "agents and their instructions",
    names:
      ".mcp.json mcp.json mcp_config.json .claude.json agents.md agents.override.md claude.md claude.local.md gemini.md qwen.md copilot-instructions.md " +
      ".cursorrules .windsurfrules .clinerules .roorules .roomodes .roorules-* .goosehints .rules .augment-guidelines .aider.conf.yml " +
      ".aider.model.settings.yml .aider.model.metadata.json opencode.json opencode.jsonc .opencode.json crush.json .crush.json gptme.toml .kilocodemodes",
    folders:
      ".outrider .claude .agent .agents .codex .gemini .cursor .opencode .windsurf .continue .aider .cline .clinerules .roo .kilocode .augment .junie " +
      ".kiro .amazonq .trae .qodo .tabnine .qwen .crush .factory .warp .amp .copilot .openhands .cody .sourcegraph .ruler .goose .aiassistant .mcp .pi " +
      ".github/instructions .github/prompts .github/agents .github/chatmodes .github/copilot",
  },
  {
    // Every start of the language, its prompt or one of its programs reads them.
    title: "languages and programs when they start",
    names:
      "sitecustomize.py usercustomize.py *.pth *._pth .pythonrc .pythonrc.py .pystartup pyvenv.cfg .rprofile .renviron rprofile.site .irbrc .pryrc " +
      ".rspec .iex.exs .ghci .ocamlinit .guile .sbclrc .erlang .octaverc .luacheckrc .luarc.lua .psqlrc .sqliterc .my.cnf .mongorc.js .mongoshrc.js " +
      ".user.ini php.ini .htaccess .noderc .node_repl_rc .jvmopts .ripgreprc .ackrc .curlrc .wgetrc .lesskey .lessfilter .mailcap .terraformrc " +
      "terraform.rc .perltidyrc .rubyopt .bunfig.toml bunfig.toml",
    folders: ".venv/bin venv/bin .venv/scripts venv/scripts .julia/config .ipython .jupyter .pip .docker .kube .config/pip",
  },
  {
    // The next install or build, and the tools of an editor that do one.
    title: "package managers and build wrappers",
    names:
      ".npmrc .yarnrc .yarnrc.yml .pnp.cjs .pnp.js .pnp.loader.mjs .pnpmfile.cjs .pnpmfile.mjs pnpmfile.js pnpm-workspace.yaml .corepack.env binding.gyp " +
      "package.json composer.json deno.json deno.jsonc pip.conf pip.ini .pypirc uv.toml poetry.toml pdm.toml .pdm.toml .condarc .gemrc nuget.config " +
      "build.rs rust-toolchain rust-toolchain.toml mvnw mvnw.cmd gradlew gradlew.bat gradle.properties init.gradle init.gradle.kts .sbtopts .sbtrc " +
      ".bazelrc .bazeliskrc .bazelversion .buckconfig .buckconfig.* bazel bazelisk cabal.project.local " +
      "directory.build.props directory.build.targets directory.solution.props before.*.targets after.*.targets",
    folders:
      ".cargo .mvn .yarn/releases .yarn/plugins .yarn/sdks gradle/wrapper .gradle/init.d .bundle .sbt .swiftpm .rustup .m2 .config/uv .config/pypoetry buildsrc",
  },
  {
    // A push is enough, with the secrets of the project at hand.
    title: "CI and deployment",
    names:
      ".gitlab-ci.yml .gitlab-ci.yaml *.gitlab-ci.yml .travis.yml azure-pipelines.yml azure-pipelines.yaml azure-pipelines*.yml jenkinsfile jenkinsfile.* " +
      "*.jenkinsfile bitbucket-pipelines.yml .drone.yml .drone.yaml .drone.star .drone.jsonnet .woodpecker.yml .woodpecker.yaml appveyor.yml " +
      ".appveyor.yml .cirrus.yml .cirrus.star wercker.yml codeship-steps.yml codeship-services.yml buildspec.yml buildspec.yaml cloudbuild.yaml " +
      "cloudbuild.yml cloudbuild.json .build.yml .gocd.yaml .scrutinizer.yml codefresh.yml shippable.yml .zuul.yaml zuul.yaml .prow.yaml " +
      ".ci-operator.yaml .buildkite.yml buildkite.yml dagger.json earthfile netlify.toml vercel.json now.json render.yaml fly.toml app.json procfile " +
      ".platform.app.yaml railway.toml railway.json amplify.yml wrangler.toml wrangler.json wrangler.jsonc .readthedocs.yml .readthedocs.yaml " +
      ".releaserc .releaserc.* release.config.* .goreleaser.yml .goreleaser.yaml skaffold.yaml tiltfile renovate.json .renovaterc .renovaterc.json",
    folders:
      ".github/workflows .github/actions .gitea/workflows .gitea/actions .forgejo/workflows .forgejo/actions .gitlab/ci .gitlab/.gitlab-ci .circleci " +
      ".buildkite .woodpecker .semaphore .teamcity bamboo-specs .builds .tekton .harness .zuul.d zuul.d .azure-pipelines .azuredevops .azure/pipelines " +
      ".ci .drone .concourse .codefresh .dagger .do .platform .jenkins .pipelines .tugboat .render",
  },
  {
    // Somebody has to run a build, a test or a task, as they do all day.
    title: "builds, tests and tasks",
    names:
      "makefile gnumakefile bsdmakefile makefile.* justfile .justfile taskfile.* rakefile rakefile.rb gemfile *.gemspec *.podspec podfile fastfile guardfile " +
      "vagrantfile brewfile berksfile gulpfile.* gruntfile.* jakefile jakefile.* cakefile snakefile conftest.py setup.py noxfile.py tox.ini pytest.ini " +
      "fabfile.py dodo.py sconstruct sconscript wscript meson.build cmakelists.txt cmakepresets.json cmakeuserpresets.json build.gradle " +
      "build.gradle.kts settings.gradle settings.gradle.kts *.gradle *.sbt build.sc build.mill project.clj bb.edn mix.exs rebar.config build.zig *.csproj " +
      "*.fsproj *.vbproj *.vcxproj *.targets default.nix workspace workspace.bazel module.bazel build.bazel *.bzl dockerfile dockerfile.* *.dockerfile " +
      "docker-compose.yml docker-compose.yaml docker-compose.*.yml docker-compose.*.yaml compose.yml compose.yaml compose.override.yml turbo.json nx.json " +
      "lerna.json wireit.json magefile.go *.config.js *.config.cjs *.config.mjs *.config.ts *.config.cts *.config.mts *.conf.js *.conf.cjs *.conf.mjs " +
      "*.conf.ts .*rc.js .*rc.cjs .*rc.mjs .*rc.ts .swcrc .babelrc .eslintrc .eslintrc.json .eslintrc.yml .eslintrc.yaml .prettierrc .mocharc.json " +
      ".mocharc.yml .mocharc.yaml .nycrc .taprc jest.config.json karma.conf.js playwright.config.* cypress.json .rubocop.yml .standard.yml .pylintrc pylintrc",
    folders: ".config/nextest taskfiles .taskfiles .just",
  },
];
