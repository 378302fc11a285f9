/** Fields of the tools are texts and flags, and nothing else. */
type Property = { readonly type: "string" | "boolean"; readonly description: string };

export type ToolDefinition = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: {
    readonly type: "object";
    readonly properties: Readonly<Record<string, Property>>;
    readonly required: readonly string[];
    readonly additionalProperties: false;
  };
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint?: boolean; readonly openWorldHint: boolean };
};

export type ToolName = "run" | "reply" | "status" | "cancel";

const prompt: Property = { type: "string", description: "What the agent is to do" };
const wait: Property = {
  type: "boolean",
  description: "false: answer at once with the sessionId while the agent works; status tells how it goes. true when absent",
};

export const toolDefinitions: readonly (ToolDefinition & { readonly name: ToolName })[] = [
  {
    name: "run",
    title: "Run an agent",
    description:
      "Starts a new session of the Outrider agent in a folder and gives it a prompt. It reads and changes files and runs commands as its own rules allow. Answers what it said last, and the sessionId for reply.",
    inputSchema: {
      type: "object",
      properties: {
        prompt,
        cwd: { type: "string", description: "The folder to work in, as an absolute path; the server's own when absent" },
        model: { type: "string", description: "Another model than the configured one" },
        readOnly: { type: "boolean", description: "true: the agent may look and plan, and change nothing" },
        wait,
      },
      required: ["prompt"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
  {
    name: "reply",
    title: "Go on with a session",
    description:
      "Gives a session another prompt. Sessions are stored: also those of an earlier start of this server can be gone on with.",
    inputSchema: {
      type: "object",
      properties: { sessionId: { type: "string", description: "From run or status" }, prompt, wait },
      required: ["sessionId", "prompt"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
  {
    name: "status",
    title: "Look at sessions",
    description: "What a session is doing and what it said last; without a sessionId, the latest sessions.",
    inputSchema: {
      type: "object",
      properties: {
        sessionId: { type: "string", description: "From run; all sessions when absent" },
        wait: { type: "boolean", description: "true: wait until the session has ended its work, and answer its questions" },
      },
      required: [],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: "cancel",
    title: "Stop a session",
    description: "Ends what a session is doing. It stays stored, and reply goes on with it.",
    inputSchema: {
      type: "object",
      properties: { sessionId: { type: "string", description: "From run or status" } },
      required: ["sessionId"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  },
];

/** What every tool answers for programs. */
export const outputSchema = {
  type: "object",
  properties: {
    sessionId: { type: "string" },
    state: {
      type: "string",
      description: "completed, stopped (a limit), cancelled or failed; running, waiting (for an answer), idle, or listed",
    },
    text: { type: "string", description: "What the agent said last" },
    limit: { type: "string" },
    usage: { type: "object" },
    error: { type: "object", properties: { code: { type: "string" }, message: { type: "string" } } },
    sessions: { type: "array", items: { type: "object" } },
  },
  required: ["state", "text"],
} as const;
