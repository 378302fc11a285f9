/** Takes the words behind the command's name, and answers the exit code. */
export type Run = (args: readonly string[]) => Promise<number>;

/** Every subcommand by its name. What is said about them is in `flags/about-subcommands.ts`. */
export const subcommands = {
  acp: async () => (await import("./commands/acp.ts")).runAcp,
  attach: async () => (await import("./commands/serve/attach.ts")).runAttach,
  batch: async () => (await import("./commands/batch/batch.ts")).runBatchCommand,
  checkpoints: async () => (await import("./commands/checkpoints/checkpoints.ts")).runCheckpoints,
  compare: async () => (await import("./commands/report/compare.ts")).runCompare,
  completion: async () => (await import("./commands/completion/completion.ts")).runCompletion,
  config: async () => (await import("./commands/config.ts")).runConfig,
  demo: async () => (await import("./commands/demo.ts")).runDemo,
  docs: async () => (await import("./commands/docs.ts")).runDocs,
  doctor: async () => (await import("./commands/doctor/doctor.ts")).runDoctor,
  fleet: async () => (await import("./commands/fleet/fleet.ts")).runFleetCommand,
  help: async () => (await import("./commands/help.ts")).runHelp,
  init: async () => (await import("./commands/init/init.ts")).runInit,
  mcp: async () => (await import("./commands/mcp/mcp.ts")).runMcp,
  memory: async () => (await import("./commands/memory.ts")).runMemoryCommand,
  models: async () => (await import("./commands/models.ts")).runModels,
  permissions: async () => (await import("./commands/permissions/permissions.ts")).runPermissions,
  plugin: async () => (await import("./commands/plugins/plugins.ts")).runPlugins,
  plugins: async () => (await import("./commands/plugins/plugins.ts")).runPlugins,
  prompt: async () => (await import("./commands/prompt.ts")).runPromptCommand,
  providers: async () => (await import("./commands/providers.ts")).runProviders,
  ps: async () => (await import("./commands/serve/ps.ts")).runPs,
  serve: async () => (await import("./commands/serve/serve.ts")).runServe,
  replay: async () => (await import("./commands/replay/replay.ts")).runReplay,
  report: async () => (await import("./commands/report/report.ts")).runReport,
  sessions: async () => (await import("./commands/sessions/sessions.ts")).runSessions,
  skills: async () => (await import("./commands/skills.ts")).runSkills,
  stop: async () => (await import("./commands/serve/ps.ts")).runStop,
  tasks: async () => (await import("./commands/tasks.ts")).runTasks,
  trajectory: async () => (await import("./commands/trajectory.ts")).runTrajectory,
  trust: async () => (await import("./commands/trust.ts")).runTrust,
  usage: async () => (await import("./commands/usage/usage.ts")).runUsage,
  "user-local": async () => (await import("./commands/user-local.ts")).runUserLocalCommand,
  worker: async () => (await import("./commands/fleet/worker.ts")).runWorker,
  worktrees: async () => (await import("./commands/worktrees/worktrees.ts")).runWorktrees,
} satisfies Record<string, () => Promise<Run>>;

export type SubcommandName = keyof typeof subcommands;

export function isSubcommand(word: string | undefined): word is SubcommandName {
  return word !== undefined && Object.hasOwn(subcommands, word);
}
