type Environment = Readonly<Record<string, string | undefined>>;

/** A number in one of Claude Code's variables; what is none is left alone there, and so it is here. */
export function countIn(env: Environment, name: string, least: number): number | undefined {
  const text = env[name]?.trim();
  const value = text ? Number(text) : Number.NaN;
  return Number.isInteger(value) && value >= least && value <= 2 ** 31 - 1 ? value : undefined;
}

/** What Claude Code's variables say about the requests of a session. Flags and options win over them. */
export function claudeVariables(env: Environment): {
  readonly maxOutputTokens?: number;
  readonly thinkingTokens?: number;
} {
  const maxOutputTokens = countIn(env, "CLAUDE_CODE_MAX_OUTPUT_TOKENS", 1);
  const thinkingTokens = countIn(env, "MAX_THINKING_TOKENS", 1);
  return { ...(maxOutputTokens !== undefined && { maxOutputTokens }), ...(thinkingTokens !== undefined && { thinkingTokens }) };
}
