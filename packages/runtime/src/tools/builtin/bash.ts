import { forgives } from "../forgiven/later.ts";
import { defaultOutputLimit } from "../output-limit.ts";
import { defineTool, type Tool } from "../tool.ts";
import { defined } from "../../util/defined.ts";
import { placeIn } from "../working-directory.ts";
import { bashFacts } from "./facts.ts";

export type BashInput = {
  command: string;
  timeout?: number;
  description?: string;
  run_in_background?: boolean;
  dangerouslyDisableSandbox?: boolean;
};

/** What a session may set otherwise. */
export type BashLimits = {
  /** For commands that name no time limit; 120,000 when absent. */
  readonly defaultTimeoutMs?: number | undefined;
  /** The longest that a command may ask for; 600,000 when absent. */
  readonly maxTimeoutMs?: number | undefined;
  /** Characters of output the model is shown; 30,000 when absent. */
  readonly outputCharacters?: number | undefined;
  /** Every command starts at the top of the workspace, wherever the one before went. */
  readonly staysAtRoot?: boolean | undefined;
  /** A command that takes longer than its time limit goes on in the background, instead of being ended. */
  readonly movesToBackground?: boolean | undefined;
};

export type Limits = { readonly [K in keyof Required<BashLimits>]: NonNullable<BashLimits[K]> };

function toLimits({ defaultTimeoutMs = 120_000, maxTimeoutMs = 600_000, ...rest }: BashLimits): Limits {
  const { outputCharacters = defaultOutputLimit, staysAtRoot = false, movesToBackground = false } = rest;
  const longest = Math.max(maxTimeoutMs, defaultTimeoutMs);
  return { defaultTimeoutMs, maxTimeoutMs: longest, outputCharacters, staysAtRoot, movesToBackground };
}

/** Runs commands, within limits that a session may set. */
export function createBashTool(wanted: BashLimits = {}): Tool {
  const limits = toLimits(wanted);
  return defineTool<BashInput>({
    name: "Bash",
    description: [
      "Runs a command in a new bash process and returns what it prints, standard output and standard error together.",
      limits.staysAtRoot
        ? "Every call starts at the top of the project; variables, functions and shell options do not carry over to the next."
        : "The working directory carries over to the next call, and relative paths of other tools start there too; it stays within the project. Variables, functions and shell options do not carry over.",
      "Standard input is empty and there is no terminal: use flags that avoid questions, pagers and editors.",
      "With run_in_background the call answers at once with the id of a task, and you are told when the command ends: for servers, and for what takes long while you go on. TaskOutput shows what it prints and can wait for it, TaskInput writes to its standard input, TaskStop ends it. Do not use & for that.",
      "Put temporary files into $TMPDIR, a folder of this session that is removed at its end.",
      "Long output is shortened in the middle and saved to a file that is named in the result.",
      limits.movesToBackground
        ? `A command that takes longer than timeout milliseconds (${limits.defaultTimeoutMs} unless given, at most ${limits.maxTimeoutMs}) goes on in the background.`
        : `A command is stopped after timeout milliseconds (${limits.defaultTimeoutMs} unless given, at most ${limits.maxTimeoutMs}), with every process it started.`,
    ].join("\n"),
    inputSchema: {
      type: "object",
      properties: {
        command: {
          type: "string",
          minLength: 1,
          description: "The command, as it would be typed into bash; may have several lines",
        },
        timeout: { type: "number", minimum: 1, maximum: limits.maxTimeoutMs, description: "Time limit in milliseconds" },
        description: { type: "string", description: "What the command does, in a few words" },
        run_in_background: { type: "boolean", description: "Do not wait for its end; timeout is then only what you give" },
        dangerouslyDisableSandbox: {
          type: "boolean",
          description: "Where commands run in a sandbox: ask for permission to run this one outside of it",
        },
      },
      required: ["command"],
      additionalProperties: false,
    },
    concurrent: false,
    forgives: forgives("bash"),
    facts: bashFacts,
    takesGit: true,
    async access(input, workspace, memory) {
      const cwd = memory && placeIn(memory, workspace).directory;
      return {
        kind: "run",
        resources: [input.command],
        ...defined({ cwd }),
        ...(input.dangerouslyDisableSandbox && { outside: true as const }),
      };
    },
    ...defined({ outputLimit: wanted.outputCharacters }),
    execute: async (input, context) => await (await import("../run-bash.ts")).runBash(input, context, limits),
  });
}

export const bashTool: Tool = createBashTool();
