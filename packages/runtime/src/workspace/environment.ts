import { keysIn } from "../util/known-secrets.ts";
import { isOrdinary, isPlainSetting, secretsIn } from "../util/secret-names.ts";
import { holdsPassword, isGivingName } from "../util/secret-variables.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What a program gets of the user's variables, and the names of those it does not get. */
export type GivenVariables = { readonly env: Readonly<Record<string, string>>; readonly withheld: readonly string[] };

/** A shorter one may stand in another value by chance. */
const leastLength = 12;

/** Ways to programs that would do something with the user's keys. */
const agents: readonly string[] = ["SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "GIT_ASKPASS", "SSH_ASKPASS"];

/**
 * The variables of a program nobody has said anything about: everything but what looks like a secret, by its name or by its value, so
 * that a tool that prints its environment gives nothing away. That goes for a secret inside another value, too: in `CI_REPOSITORY_URL`
 * GitLab has the token of the job. `keep` names those that are passed on nevertheless.
 */
export function scrubEnvironment(env: Environment, keep: readonly string[] = []): Record<string, string> {
  const secrets = secretsIn(env).filter((secret) => secret.length >= leastLength);
  return pick(env, (name, value) => {
    if (keep.includes(name)) return true;
    if (agents.includes(name)) return false;
    if (isGivingName(name) && !isPlainSetting(name, value) && !isOrdinary(name, value)) return false;
    return !secrets.some((secret) => value.includes(secret)) && !holdsPassword(value) && keysIn(value).length === 0;
  });
}

/** What nobody has said anything about asks nobody whether it is old, and keeps no log of its own. */
const quiet = { npm_config_update_notifier: "false", npm_config_logs_max: "0", NO_UPDATE_NOTIFIER: "1" };

/** The same, with what is missing; made when it is first asked for. */
export function carefulVariables(env: Environment, keep: readonly string[] = []): () => GivenVariables {
  let given: GivenVariables | undefined;
  return () => {
    if (given) return given;
    const careful = scrubEnvironment(env, keep);
    const withheld = Object.keys(env).filter((name) => env[name] && !Object.hasOwn(careful, name));
    given = { env: { ...careful, ...quiet }, withheld: withheld.sort() };
    return given;
  };
}

export type UserWishes = {
  readonly keys?: readonly string[];
  readonly keep?: readonly string[];
  readonly known?: Environment;
  readonly secrets?: readonly string[];
};

/**
 * The variables of a program the user has let run: all of them, as in the user's own shell, but for the keys Outrider itself asks
 * models with, under whatever name they stand. `keep` names those that are passed on nevertheless; `known` are all the variables a key
 * may be in, `secrets` keys that are in none.
 */
export function userEnvironment(
  env: Environment,
  { keys = modelKeys, keep = [], known = env, secrets: written = [] }: UserWishes = {},
): Record<string, string> {
  const values = keys.flatMap((name) => (keep.includes(name) ? [] : (known[name]?.trim() ?? [])));
  const secrets = [...values, ...written].filter((value) => value.length >= leastLength);
  return pick(
    env,
    (name, value) => keep.includes(name) || !(keys.includes(name) || secrets.some((secret) => value.includes(secret))),
  );
}

/**
 * Variables that hold a key for asking models. Credentials of a cloud (`AWS_ACCESS_KEY_ID`, `GOOGLE_APPLICATION_CREDENTIALS`) are not
 * among them: with those, programs of the user's do much else.
 */
export const modelKeys: readonly string[] = [
  ...["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN"],
  ...["OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"],
  ...["AWS_BEARER_TOKEN_BEDROCK", "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY"],
  ...["TOGETHER_API_KEY", "FIREWORKS_API_KEY", "OPENAI_COMPATIBLE_API_KEY", "DASHSCOPE_API_KEY", "VLLM_API_KEY"],
];

function pick(env: Environment, isWanted: (name: string, value: string) => boolean): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined && isWanted(name, value)) kept[name] = value;
  return kept;
}
