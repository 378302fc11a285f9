import { RuntimeError } from "@outrider/runtime";
import { editDistance, nearest } from "@outrider/runtime/host";
import { isSubcommand, type SubcommandName } from "../subcommands.ts";

export type AboutSubcommand = {
  /** The first words that may follow. */
  readonly actions: readonly string[];
  /** How it is written in the help text, when that is not its name and its actions. */
  readonly example?: string;
  readonly help: string;
};

/** In the order of the help text. */
export const aboutSubcommands: Readonly<Record<SubcommandName, AboutSubcommand>> = {
  demo: { actions: [], help: "see a whole run: no key, no network" },
  init: { actions: [], help: "write AGENTS.md, settings and a CI job for this project" },
  doctor: { actions: [], help: "check what works here, and how to fix what does not" },
  providers: { actions: ["list", "test", "add", "use", "remove"], help: "list, test and set up model providers" },
  models: {
    actions: [],
    example: "models [PROVIDER]",
    help: "their context windows and prices; --refresh asks the provider",
  },
  mcp: {
    actions: ["add", "add-json", "list", "get", "remove", "login", "logout", "test", "serve"],
    example: "mcp add|list|get|remove|login|test|serve",
    help: "manage and test MCP servers; serve runs Outrider as one",
  },
  permissions: {
    actions: ["explain", "lint", "log", "grants", "test"],
    example: 'permissions explain "Bash(git push)"',
    help: "what would be decided, and why; also lint, test, log and grants",
  },
  prompt: { actions: [], example: "prompt [FLAGS]", help: "show the system prompt and tools part by part, with token counts" },
  config: { actions: [], example: "config --explain [KEY]", help: "the effective settings, and the file each comes from" },
  trust: { actions: [], example: "trust [--show]", help: "trust this project's own hooks, servers and rules" },
  skills: { actions: ["list", "show", "lint"], help: "list, show and check skills and commands in files" },
  memory: {
    actions: ["list", "show", "add", "pending", "approve", "reject"],
    help: "the project's memory, and entries that wait for approval",
  },
  plugins: {
    actions: ["install", "list", "show", "enable", "disable", "update", "remove", "validate", "search", "marketplace"],
    example: "plugins install SOURCE",
    help: "install, list, show, enable, disable, update, remove, search",
  },
  plugin: {
    actions: ["install", "list", "show", "enable", "disable", "update", "uninstall", "validate", "marketplace"],
    example: "plugin …",
    help: "the same, as Claude Code calls it",
  },
  sessions: { actions: ["list", "show", "rename", "rm", "export", "gc"], help: "manage stored sessions" },
  usage: {
    actions: [],
    example: "usage [--by day|model|project]",
    help: "what all stored sessions cost, as a chart",
  },
  replay: {
    actions: [],
    example: "replay SESSION|FILE",
    help: "play a run back on this terminal, at its own pace or step by step",
  },
  report: { actions: [], example: "report SESSION|FILE|DIR", help: "a run as a web page; a list for many runs" },
  compare: { actions: [], example: "compare A B", help: "compare two runs side by side as a web page, or two batches" },
  batch: {
    actions: ["status", "cancel", "retry", "approve"],
    example: "batch FILE|DIR|-",
    help: "run many tasks, each in its own session; survives crashes",
  },
  worker: { actions: [], example: "worker --engine restate", help: "work on batches of a durable engine" },
  fleet: { actions: ["up", "status", "drain"], help: "try an engine and workers on this machine" },
  tasks: { actions: [], example: "tasks SESSION [TASK]", help: "background tasks of a session, and their output" },
  checkpoints: {
    actions: ["list", "show", "restore", "rollback", "recover", "gc"],
    help: "files as they were before a turn changed them",
  },
  worktrees: { actions: ["list", "open", "merge", "remove", "gc"], help: "manage the separate checkouts in which agents worked" },
  "user-local": { actions: ["storage", "memory"], help: "what is stored for you alone, outside any project" },
  trajectory: { actions: ["export", "validate"], help: "export sessions as ATIF or as traces (OTLP), and validate ATIF" },
  acp: { actions: [], help: "an agent for Zed, JetBrains and other editors (Agent Client Protocol)" },
  serve: { actions: ["token"], example: "serve [--port N]", help: "serve many sessions to other programs (HTTP)" },
  attach: { actions: [], example: "attach [URL] [SESSION]", help: "watch and steer a server's session from a terminal" },
  ps: { actions: [], help: "list the sessions of the local server" },
  stop: { actions: [], help: "shut the local server down" },
  docs: { actions: [], example: "docs [--port N]", help: "show the documentation as a local site with search" },
  completion: { actions: ["bash", "zsh", "fish"], help: "print a completion script for the shell" },
  help: { actions: [], example: "help [COMMAND]", help: "show this help, or that of one command" },
};

/** Commands of similar programs: somebody who types one of them alone does not mean a prompt. */
const foreign: Readonly<Record<string, string>> = {
  update: "Outrider is updated by whatever installed it: npm install -g outrider",
  upgrade: "Outrider is updated by whatever installed it: npm install -g outrider",
  login: "There is nothing to log in to: set a provider's key, see outrider providers list",
  logout: "There is nothing to log out of: keys are in the environment, see outrider providers list",
  auth: "There is nothing to log in to: set a provider's key, see outrider providers list",
  "setup-token": "There is nothing to log in to: set a provider's key, see outrider providers list",
  install: "Outrider is installed by npm; outrider providers add sets a provider up",
  exec: "A prompt is run by outrider -p",
  run: "A prompt is run by outrider -p",
  chat: "A prompt is run by outrider -p; a program drives a session with --input-format stream-json",
  resume: "A session is resumed by outrider -p --resume SESSION",
  version: "That is outrider --version",
  agents: "Agents are files in .claude/agents and .outrider/agents; init lists them: outrider -p --output-format stream-json",
  project: "What is stored about a project: outrider sessions, checkpoints and trust",
  "migrate-installer": "Outrider is installed by npm",
  "remote-control": "A program drives it with --input-format stream-json, an editor with outrider acp",
  "auto-mode": "Permission modes are chosen with --permission-mode",
  gateway: "A gateway is a profile with a baseURL: outrider providers add",
};

/** A word alone in first place that is nearly the name of a command, or another program's, is a slip and not a prompt: nobody pays a model for it. */
export function refuseMistyped(word: string): void {
  const hint = Object.hasOwn(foreign, word) ? foreign[word] : undefined;
  const guess = nearest(
    word,
    Object.keys(aboutSubcommands).filter((name) => isSlipOf(word, name)),
  );
  if (hint === undefined && guess === undefined) return;
  const meant = hint === undefined ? `; did you mean ${guess}?` : "";
  throw new RuntimeError("usage", `There is no command ${JSON.stringify(word)}${meant}`, {
    hint: `${hint === undefined ? "" : `${hint}. `}If it is a prompt, pass it with -p: outrider -p ${JSON.stringify(word)}`,
  });
}

/** Short words are near to one thing or another (hello and help): for them it is one letter, or two that changed places. */
function isSlipOf(word: string, name: string): boolean {
  const isTurned = [...word].sort().join("") === [...name].sort().join("");
  return isTurned || editDistance(word, name) <= (word.length < 6 ? 1 : 2);
}

/** How a command is written in the help text. */
export function writtenAs(name: string): string {
  if (!isSubcommand(name)) return name;
  const { actions, example } = aboutSubcommands[name];
  return example ?? [name, actions.join("|")].join(" ").trim();
}
