type Environment = Readonly<Record<string, string | undefined>>;

/** Does an Agent SDK drive this run? It says so in the environment. */
export function isSdk(env: Environment): boolean {
  return Boolean(env["CLAUDE_AGENT_SDK_VERSION"]) || entrypointOf(env).startsWith("sdk-");
}

export function entrypointOf(env: Environment): string {
  return env["CLAUDE_CODE_ENTRYPOINT"] ?? "";
}
