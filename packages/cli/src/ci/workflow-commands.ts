import type { CiPlatform } from "./platform.ts";
import type { RunReport } from "./run-report.ts";

/** The lines by which a run talks to the log viewer of its platform. They go to stderr: stdout belongs to the output format. */
export interface LogCommands {
  /** Opens the fold for progress, and keeps what tools and models print from being taken for commands. */
  begin(title: string): string;
  end(): string;
  failure(report: RunReport): string;
  mask(secrets: readonly string[]): string;
}

export function logCommandsOf(platform: CiPlatform["name"], facts: { token: string; now: () => number }): LogCommands {
  switch (platform) {
    case "github":
      return githubCommands(facts.token);
    case "gitlab":
      return gitlabCommands(facts);
    case "other":
      return { begin: () => "", end: () => "", failure: () => "", mask: () => "" };
  }
}

function githubCommands(token: string): LogCommands {
  return {
    begin: (title) => `::group::${escapeValue(title)}\n::stop-commands::${token}\n`,
    end: () => `::${token}::\n::endgroup::\n`,
    failure: (report) => {
      const { level, title, message } = failureOf(report);
      return `::${level} title=${escapeProperty(title)}::${escapeValue(message)}\n`;
    },
    mask: (secrets) =>
      secrets
        .flatMap((secret) => secret.split("\n"))
        .filter(Boolean)
        .map((line) => `::add-mask::${escapeValue(line)}\n`)
        .join(""),
  };
}

function gitlabCommands({ token, now }: { token: string; now: () => number }): LogCommands {
  const section = `outrider_${token}`;
  const seconds = (): number => Math.floor(now() / 1000);
  return {
    begin: (title) => `\x1b[0Ksection_start:${seconds()}:${section}[collapsed=true]\r\x1b[0K${oneLine(title)}\n`,
    end: () => `\x1b[0Ksection_end:${seconds()}:${section}\r\x1b[0K\n`,
    failure: (report) => {
      const { title, message } = failureOf(report);
      return `\x1b[31;1m${oneLine(title)}\x1b[0m ${oneLine(message)}\n`;
    },
    mask: () => "", // GitLab masks by its own settings; ours never prints a secret
  };
}

function failureOf({ outcome, exitCode }: RunReport): { level: "error" | "warning"; title: string; message: string } {
  switch (outcome.type) {
    case "failed":
      return {
        level: "error",
        title: `Outrider: ${outcome.error.code}`,
        message: outcome.error.hint ? `${outcome.error.message}\n${outcome.error.hint}` : outcome.error.message,
      };
    case "stopped":
      return {
        level: "error",
        title: "Outrider stopped",
        message: `Stopped at the limit ${outcome.limit} (exit code ${exitCode})`,
      };
    case "cancelled":
      return {
        level: "warning",
        title: "Outrider was cancelled",
        message: `Cancelled: ${outcome.cause} (exit code ${exitCode})`,
      };
    case "completed":
      return { level: "warning", title: "Outrider", message: "Completed" };
  }
}

function escapeValue(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeValue(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** Control characters could rewrite the log. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/\p{Cc}/gu, "");
}
