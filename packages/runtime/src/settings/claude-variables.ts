import { type Effort, efforts } from "../model/model.ts";
type Environment = Readonly<Record<string, string | undefined>>;

/** A number in one of Claude Code's variables; what is none is left alone there, and so it is here. */
export function countIn(env: Environment, name: string, least: number): number | undefined {
  const text = env[name]?.trim();
  const value = text ? Number(text) : Number.NaN;
  return Number.isInteger(value) && value >= least && value <= 2 ** 31 - 1 ? value : undefined;
}

/** As Claude Code reads its switches. */
export function isOn(env: Environment, name: string): boolean {
  return /^(?:1|true|yes|on)$/i.test(env[name]?.trim() ?? "");
}

export type ClaudeVariables = {
  readonly maxOutputTokens: number | undefined;
  readonly thinkingTokens: number | undefined;
  readonly maxTurns: number | undefined;
  readonly maxObjections: number | undefined;
  readonly effort: Effort | undefined;
  readonly subagentModel: string | undefined;
  /** A prompt that begins with a slash and names no command is text for the model. */
  readonly slashCommands: "known" | undefined;
  readonly backgroundAgents: boolean | undefined;
  readonly bash: {
    readonly defaultTimeoutMs: number | undefined;
    readonly maxTimeoutMs: number | undefined;
    readonly outputCharacters: number | undefined;
    readonly staysAtRoot: boolean | undefined;
    readonly movesToBackground: boolean | undefined;
  };
};

/** The most that Claude Code shows of a command's output, whatever the variable says. */
const mostCharacters = 150_000;

/** What Claude Code's variables say about a session. Flags and options win over them. */
export function claudeVariables(env: Environment): ClaudeVariables {
  const characters = countIn(env, "BASH_MAX_OUTPUT_LENGTH", 1);
  return {
    maxOutputTokens: countIn(env, "CLAUDE_CODE_MAX_OUTPUT_TOKENS", 1),
    thinkingTokens: isOn(env, "CLAUDE_CODE_DISABLE_THINKING") ? 0 : countIn(env, "MAX_THINKING_TOKENS", 0),
    effort: efforts.find((word) => word === env["CLAUDE_CODE_EFFORT_LEVEL"]?.toLowerCase()),
    subagentModel: env["CLAUDE_CODE_SUBAGENT_MODEL"]?.trim() || undefined,
    maxTurns: countIn(env, "CLAUDE_CODE_MAX_TURNS", 1),
    maxObjections: countIn(env, "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", 1),
    slashCommands: isOn(env, "OUTRIDER_CLAUDE_COMMANDS") ? "known" : undefined,
    backgroundAgents: isOn(env, "OUTRIDER_CLAUDE_BACKGROUND_AGENTS") || undefined,
    bash: {
      defaultTimeoutMs: countIn(env, "BASH_DEFAULT_TIMEOUT_MS", 1),
      maxTimeoutMs: countIn(env, "BASH_MAX_TIMEOUT_MS", 1),
      outputCharacters: characters && Math.min(characters, mostCharacters),
      movesToBackground: isOn(env, "OUTRIDER_BASH_MOVES_TO_BACKGROUND") || undefined,
      staysAtRoot: isOn(env, "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR") || undefined,
    },
  };
}

/** When the conversation is summarised by itself: never, or from which share of the window on. */
export function compactionVariables(env: Environment): { readonly threshold: number | false } | undefined {
  if (isOn(env, "DISABLE_AUTO_COMPACT") || isOn(env, "DISABLE_COMPACT")) return { threshold: false };
  const percent = countIn(env, "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", 5);
  return percent === undefined || percent > 100 ? undefined : { threshold: percent / 100 };
}
