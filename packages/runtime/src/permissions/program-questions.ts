import { isInterpreter, runsAnything } from "./interpreters.ts";
import { rowOf } from "./program-table.ts";
import type { Program } from "./parsed-command.ts";
import { isPlain } from "./shell-words.ts";

/**
 * A program is asked about itself: exactly `NAME --help`, `NAME --version` or `NAME version`. `certain` when it is known to answer that and do
 * no more; `likely` for `version` in front of a program nobody knows: the old ones of the system take it for the name of a file.
 */
export function questionOf({ name, words }: Program): "certain" | "likely" | undefined {
  const [first, question, ...more] = words;
  if (!isPlain(first) || first.text.includes("/") || !isPlain(question) || more.length > 0 || obeysProject.has(name))
    return undefined;
  if (/^--(?:help|version)$/.test(question.text)) return "certain";
  if (/^(?:-v|-V|-version)$/.test(question.text)) return shortVersion.test(name) ? "certain" : undefined;
  if (question.text !== "version" || rowOf(name))
    return hasVersion.has(name) && question.text === "version" ? "certain" : undefined;
  if (hasVersion.has(name)) return "certain";
  return isInterpreter(name) || runsAnything(name) || takesTasks.test(name) ? undefined : "likely";
}

const list = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/**
 * They run something of the project before they answer anything: a copy of themselves, plugins, a toolchain, a wrapper or a build file
 * that the project names.
 */
const obeysProject = list(
  "yarn yarnpkg pnpm pnpx npx bunx bazel bazelisk mvn mvnw gradle gradlew sbt mill lein " +
    "rails rake bundle spring pytest py.test tox nox coverage jest gulp grunt webpack webpack-cli lerna ava nx turbo ng ember expo vue next nuxt mix iex " +
    "rebar3 nix nix-shell direnv mise asdf corepack ansible ansible-playbook salt scons waf conan meson vagrant phpunit composer artisan pre-commit husky",
);

/** Files, here or above, in which a project names the copy of a program that is to answer. */
export function ordersFor(name: string): readonly string[] | undefined {
  return toolchain.has(name) ? ["rust-toolchain", "rust-toolchain.toml"] : undefined;
}

const toolchain = list("cargo rustc rustup rustfmt clippy-driver cargo-clippy rustdoc");

const hasVersion = list(
  "go git docker podman kubectl helm terraform tofu gh npm openssl hugo buf minikube kind k3d flux argocd istioctl vault consul nomad packer kustomize " +
    "zig rclone restic syft grype trivy golangci-lint goreleaser",
);

const shortVersion =
  /^(?:node|nodejs|npm|python[\d.]*|pip3?|git|bash|make|gcc|g\+\+|clang|cc|java|javac|docker|ruby|perl|php|jq|rg|curl|wget|sqlite3|bun|deno|tsc)$/;

/** Run the task, script or target of that name. */
const takesTasks =
  /^(?:just|task|rake|ant|ninja|mage|invoke|inv|fab|poe|doit|bun|deno|gulp|grunt|pdm|hatch|poetry|uv|rye|pipenv|make|gmake|cmake|tmuxp|overmind|foreman|honcho|lerna|ssh|telnet|open|xdg-open|code|kill|pkill|killall)$/;
