import { clip } from "./clip.ts";
import type { CiPlatform } from "./platform.ts";
import type { RunReport } from "./run-report.ts";

/** The lines by which a run talks to the log viewer of its platform. They go to stderr: stdout belongs to the output format. */
export interface LogCommands {
  mask(secrets: readonly string[]): string;
  /** Opens the fold for progress. From here on nothing that is printed is taken for a command. */
  begin(title: string): string;
  /** The fold is over, and still nothing is taken for a command. */
  closeFold(): string;
  /** Commands count again. */
  release(): string;
  failure(report: RunReport): string;
}

export function logCommandsOf(platform: CiPlatform["name"], facts: { token: string; now: () => number }): LogCommands {
  switch (platform) {
    case "github":
      return githubCommands(facts.token);
    case "gitlab":
      return gitlabCommands(facts);
    case "other":
      return { mask: () => "", begin: () => "", closeFold: () => "", release: () => "", failure: () => "" };
  }
}

/** Would GitHub's runner obey a line of this? `::name::` begins a line, `##[name]` may stand anywhere in it. */
export function looksLikeCommands(text: string): boolean {
  return text.includes("##[") || /^\s*::/m.test(text);
}

/** The same JSON, without the one form of a command that may stand in the middle of a line. */
export function defuseJson(lines: string): string {
  return lines.replaceAll("##[", "#\\u0023[");
}

/** The runner keeps no more of an annotation than 4,096 characters. */
const maxAnnotation = 4_000;
/** A line of a secret that is shorter is no secret: `}` and `"` would be hidden all over the log. */
const minMaskedLine = 6;

function githubCommands(token: string): LogCommands {
  return {
    mask: (secrets) =>
      [...new Set(secrets.flatMap((secret) => secret.split(/[\r\n]+/)))]
        .filter((line) => line.trim().length >= minMaskedLine)
        .map((line) => `::add-mask::${escapeValue(line)}\n`)
        .join(""),
    begin: (title) => `::group::${escapeValue(title)}\n::stop-commands::${token}\n`,
    closeFold: () => `::${token}::\n::endgroup::\n::stop-commands::${token}\n`,
    release: () => `::${token}::\n`,
    failure: (report) => {
      const { level, title, message } = failureOf(report);
      return `::${level} title=${escapeProperty(title)}::${escapeValue(clip(message, maxAnnotation))}\n`;
    },
  };
}

function gitlabCommands({ token, now }: { token: string; now: () => number }): LogCommands {
  const section = `outrider_${token}`;
  const seconds = (): number => Math.floor(now() / 1000);
  return {
    mask: () => "", // GitLab masks by its own settings
    begin: (title) => `\x1b[0Ksection_start:${seconds()}:${section}[collapsed=true]\r\x1b[0K${oneLine(title)}\n`,
    closeFold: () => `\x1b[0Ksection_end:${seconds()}:${section}\r\x1b[0K\n`,
    release: () => "",
    failure: (report) => {
      const { title, message } = failureOf(report);
      return `\x1b[31;1m${oneLine(title)}\x1b[0m ${oneLine(clip(message, maxAnnotation))}\n`;
    },
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
        message: `Stopped at the limit ${outcome.limit} (exit code ${exitCode})${outcome.reason ? `: ${outcome.reason}` : ""}`,
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
