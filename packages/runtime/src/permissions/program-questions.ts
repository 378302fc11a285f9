import { isInterpreter, runsAnything } from "./interpreters.ts";
import { rowOf } from "./program-table.ts";
import type { Program } from "./parsed-command.ts";
import { isPlain } from "./shell-words.ts";

/**
 * A program is asked about itself: exactly `NAME --help`, `NAME --version` or `NAME version`. `certain` when it is known to answer that and do
 * no more; `likely` for `version` in front of a program nobody knows: the old ones of the system take it for the name of a file.
 */
export function questionOf({ name, words, isFed }: Program): "certain" | "likely" | undefined {
  const [first, question, ...more] = words;
  // Some take their orders from their input all the same.
  if (isFed) return undefined;
  if (
    !isPlain(first) ||
    first.text.includes("/") ||
    !isPlain(question) ||
    more.length > 0 ||
    isObedient(name) ||
    actsAnyway(name)
  )
    return undefined;
  if (/^--(?:help|version)$/.test(question.text)) return "certain";
  if (/^(?:-v|-V|-version)$/.test(question.text)) return shortVersion.test(name) ? "certain" : undefined;
  if (question.text !== "version") return undefined;
  if (hasVersion.has(name)) return "certain";
  const isElse = isInterpreter(name) || runsAnything(name) || takesTasks.test(name) || takesCode.test(name);
  return rowOf(name) || isElse ? undefined : "likely";
}

const list = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Scripts that take whatever they are told for a file, a shell or an order, or do not look at it. */
function actsAnyway(name: string): boolean {
  return deaf.has(name) || /^(?:update|dpkg-re|deb-systemd|py3?(?:compile|clean))-/.test(name) || /^dpkg-reconfigure$/.test(name);
}

const deaf = list(
  "bzexe gzexe vimtutor gvimtutor add-shell remove-shell savelog sensible-browser sensible-editor sensible-pager select-editor editor pager " +
    "x-www-browser x-terminal-emulator startx xinit installkernel invoke-rc.d service ldconfig halt reboot poweroff shutdown telinit init " +
    "lesspipe lessfile tzselect mkinitramfs bzless bzmore zless zmore pwconv pwunconv grpconv grpunconv shadowconfig",
);

/**
 * They run something of the project before they answer anything: a copy of themselves, plugins, a toolchain, a wrapper or a build file
 * that the project names.
 */
const obeysProject = list(
  "cfn-lint standard-version wp flask hg chg dotnet msbuild pylint epylint rubocop rspec mocha gatsby serverless sls react-native nest knex poetry bundler jupyter ctags universal-ctags " +
    "django-admin celery gunicorn uvicorn hypercorn daphne waitress-serve alembic scrapy mkdocs sphinx-build airflow dbt prefect dagster luigi invoke inv fab " +
    "nose2 nosetests behave robot pybot sbtn mill amm boot clojure clj ant mvnd mvnDebug swift swiftc stack cabal ghcup elm crystal shards dart flutter pub " +
    "fvm melos sequelize sequelize-cli typeorm prisma drizzle-kit mikro-orm vite vitest playwright cypress storybook sb start-storybook eslint eslint_d " +
    "prettier prettierd stylelint babel babel-node swc spack rollup parcel rspack rsbuild rslib tsup unbuild tsdown vue-cli-service react-scripts craco svelte-kit " +
    "astro remix docusaurus vuepress vitepress eleventy hexo gridsome quasar ionic cordova capacitor cap nativescript ns tns karma tap wdio nyc c8 " +
    "testcafe nightwatch protractor cucumber cucumber-js codecept codeceptjs wrangler sst cdk cdk8s pulumi amplify sam truffle hardhat forge anchor foundry " +
    "tslint xo standard lint-staged commitlint semantic-release release-it changeset np rush lage wireit moon plop hygen graphql-codegen " +
    "ts-node tsx ts-node-dev nodemon pm2 esr jiti zx metro jake brunch broccoli snowpack wmr microbundle tape " +
    "mypy dmypy flake8 pyre pyflakes bandit pdm hatch rye pipenv doit poe kedro snakemake nikola pelican " +
    "lektor streamlit gradio panel bokeh ipython ipython3 bpython ptpython manage.py fastapi litestar sanic quart locust pants buck buck2 " +
    "jekyll guard pry irb erb rackup puma unicorn thin sidekiq resque cucumber reek brakeman standardrb solargraph steep sorbet srb rdoc yard kitchen " +
    "chef knife pod fastlane middleman nanoc hanami whenever cap overcommit lefthook " +
    "phpstan psalm pest phpcs phpcbf php-cs-fixer rector symfony drush pint phing codecept behat " +
    "kscript groovy grails scala scala-cli scalafmt bloop ktlint detekt quarkus mn jbang jbake maven mvn-daemon " +
    "hlint ormolu fourmolu hpack dune esy raco nimble haxelib lime terragrunt tflint tfsec checkov " +
    "rebar elixir gleam roc skaffold tilt devspace garden devbox devenv " +
    "yarn yarnpkg pnpm pnpx npx bunx bazel bazelisk mvn mvnw gradle gradlew sbt mill lein " +
    "rails rake bundle spring pytest py.test tox nox coverage jest gulp grunt webpack webpack-cli lerna ava nx turbo ng ember expo vue next nuxt mix iex " +
    "rebar3 nix nix-shell direnv mise asdf corepack ansible ansible-playbook salt scons waf conan meson vagrant phpunit composer artisan pre-commit husky",
);

/** Also by another version (`rspec-3`), and with the programs that come with it. */
function isObedient(name: string): boolean {
  return (
    obeysProject.has(name) ||
    obeysProject.has(name.replace(/-?\d[\d.]*$/, "")) ||
    /^(?:ansible|jupyter|sphinx|django|webpack|nosetests|pytest|airflow|dbt|celery|hg|dotnet)[-.]/.test(name)
  );
}

/**
 * Files in which a project tells a program what to do before it does anything: which copy of it is to answer, where it writes and whom
 * it asks. They lie in the folder it is in or the file is in that it is given, or above; in the user's home they are the user's own.
 */
export function ordersFor(name: string): readonly string[] | undefined {
  if (/^(?:cargo|rust|clippy|rls$)/.test(name)) return ["rust-toolchain", "rust-toolchain.toml"];
  if (name === "go" || name === "gofmt") return ["go.mod", "go.work"];
  if (name === "shellcheck") return [".shellcheckrc", "shellcheckrc"];
  return /^(?:npm|pnpm|yarn|yarnpkg|bun|bunx)$/.test(name)
    ? [".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml", ".bunfig.toml", "pnpm-workspace.yaml"]
    : undefined;
}

const hasVersion = list(
  "go git docker podman helm terraform tofu gh npm openssl hugo buf minikube kind k3d vault consul nomad packer kustomize " +
    "zig rclone restic syft grype trivy golangci-lint goreleaser",
);

const shortVersion =
  /^(?:node|nodejs|npm|python[\d.]*|pip3?|git|bash|make|gcc|g\+\+|clang|cc|java|javac|docker|ruby|perl|php|jq|rg|curl|wget|sqlite3|bun|deno|tsc)$/;

/** Take it for a module, a file of code or a folder, or ask a server what version that is. */
const takesCode =
  /^(?:pydoc|python|pypy|easy_install|pyvenv|isympy|docutils|rst2|rustfmt$|rustdoc$|tsc$|kotlin|bb$|b2$|bjam$|xmake|premake|bmake|standard-version|vercel|now$|wp$|cfn-lint|initdb|kubectl|oc$|flux$|argocd|istioctl|linkerd|cilium)/;

/** Run the task, script or target of that name. */
const takesTasks =
  /^(?:just|task|rake|ant|ninja|mage|invoke|inv|fab|poe|doit|bun|deno|gulp|grunt|pdm|hatch|poetry|uv|rye|pipenv|make|gmake|cmake|tmuxp|overmind|foreman|honcho|lerna|ssh|telnet|open|xdg-open|code|kill|pkill|killall)$/;
