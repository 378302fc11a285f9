/** Where a run takes place, and the files that place reads. */
export type CiPlatform = {
  readonly name: "github" | "gitlab" | "other";
  /** Markdown is added to this file. */
  readonly summary: string | undefined;
  /** Values for later steps are added to this file. */
  readonly output: string | undefined;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined outside CI. `OUTRIDER_SUMMARY` and `OUTRIDER_OUTPUT` name the files anywhere, and come first. */
export function detectCi(env: Environment): CiPlatform | undefined {
  const summary = env["OUTRIDER_SUMMARY"] || undefined;
  const output = env["OUTRIDER_OUTPUT"] || undefined;
  if (env["GITHUB_ACTIONS"] === "true")
    return {
      name: "github",
      summary: summary ?? (env["GITHUB_STEP_SUMMARY"] || undefined),
      output: output ?? (env["GITHUB_OUTPUT"] || undefined),
    };
  if (env["GITLAB_CI"] === "true") return { name: "gitlab", summary, output };
  return summary || output ? { name: "other", summary, output } : undefined;
}

/** The files through which a step changes the steps after it, or its own report: not for what a model can make run. */
export const commandFiles: readonly string[] = [
  "GITHUB_ENV",
  "GITHUB_OUTPUT",
  "GITHUB_PATH",
  "GITHUB_STATE",
  "GITHUB_STEP_SUMMARY",
  "OUTRIDER_OUTPUT",
  "OUTRIDER_SUMMARY",
];
