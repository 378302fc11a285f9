import { isPlain, type ShellWord } from "./shell-words.ts";

/** Subcommands that run, fetch or configure what they are told: a rule for the program alone does not cover them. */
const telling: Readonly<Record<string, RegExp>> = {
  npm: /^(?:link|ln|exec|x|explore|init|create|innit|edit|set|set-script|config|c)$/,
  pnpm: /^(?:exec|dlx|create|init|config|c|setup|env|patch-commit)$/,
  yarn: /^(?:global|link|exec|dlx|create|init|config|plugin|node|set|patch-commit)$/,
  docker:
    /^(?:run|exec|create|cp|build|buildx|builder|compose|stack|swarm|service|plugin|commit|load|import|save|export|context|config|login|start|container|update|attach)$/,
  podman:
    /^(?:run|exec|create|cp|build|compose|commit|load|import|save|export|login|start|container|unshare|machine|kube|play|generate|mount|update|attach|system)$/,
  go: /^(?:run|generate|tool|install|get|env)$/,
  cargo: /^(?:run|r|install|config|login|publish|new|init|add|script)$/,
  gh: /^(?:alias|extension|ext|config|auth|codespace|cs|api|ssh-key|gpg-key|secret|variable)$/,
  aws: /^configure$/,
  gcloud: /^(?:config|auth|components)$/,
  pip: /^(?:config|cache)$/,
  uv: /^(?:run|tool|publish|init|x)$/,
  poetry: /^(?:run|shell|config|self|init|new|publish)$/,
  bundle: /^(?:exec|e|config|gem|plugin|init|console|open)$/,
  composer: /^(?:exec|config|global|init|create-project|run-script|run)$/,
  dotnet: /^(?:run|exec|tool|new|nuget|script)$/,
  helm: /^(?:plugin|repo|registry)$/,
  terraform: /^(?:console|login)$/,
  kubectl: /^(?:config|plugin|edit|proxy|debug|cp|exec|run)$/,
};

/** Options of `docker run` and its kin that reach out of the container. */
const containerOptions =
  /^(?:-[a-zA-Z]*v|--(?:volume|mount|privileged|device|pid|ipc|uts|userns|cgroupns|net|network|cap-add|security-opt|group-add|env-file|volumes-from|runtime|add-host|cgroup-parent|cidfile|label-file|storage-opt|gpus|authfile|rootfs|root))/;

export function subcommandRisk(name: string, words: readonly ShellWord[], from: number): string | undefined {
  if (/^(?:docker|podman)$/.test(name) && from >= 2) {
    const option = words.slice(from).find((word) => isPlain(word) && containerOptions.test(word.text));
    if (option) return `${name} ${option.text.replace(/=.*/s, "")} reaches out of the container`;
  }
  const everywhere = globalRisk(name, words, from);
  if (everywhere) return everywhere;
  if (!Object.hasOwn(telling, name)) return undefined;
  const at = words.findIndex((word, index) => index > 0 && !(isPlain(word) && word.text.startsWith("-")));
  const subcommand = words[at];
  if (!subcommand || at < from) return undefined;
  if (!isPlain(subcommand)) return `what ${name} is to do is not written out`;
  return telling[name]?.test(subcommand.text) ? `${name} ${subcommand.text} runs or configures what it is told` : undefined;
}

/** Packages for all projects are written outside this one. Telling which there are is not meant. */
function globalRisk(name: string, words: readonly ShellWord[], from: number): string | undefined {
  if (!/^(?:npm|pnpm|yarn|bun)$/.test(name)) return undefined;
  const option = words.find(
    (word, at) =>
      at >= Math.max(from, 1) && (globally.test(word.text) || (/^--loc/.test(word.text) && /global|^[^=]*$/.test(word.text))),
  );
  const verb = words.slice(1).find((word) => isPlain(word) && !word.text.startsWith("-"))?.text ?? "";
  return option && !tells.test(verb) ? `${name} ${option.text} writes outside the project` : undefined;
}

const globally = /^(?:-[a-zA-Z]*g[a-zA-Z]*|--glo\w*(?:=.*)?)$/;
const tells = /^(?:ls|list|la|ll|root|prefix|bin|outdated|view|info|show|why|explain|help|get|pm|run|run-script|test|t|start)$/;
