import { InteractiveSession, type JsonObject, RuntimeError, type SessionOptions } from "@outrider/runtime";
import { createIdSeries, LineOutput } from "@outrider/runtime/host";
import { type LiveSession, type LiveSetup, type LiveWays, runLive } from "@outrider/runtime/live";
import { McpServers, parseMcpServers } from "@outrider/runtime/mcp";
import type { Arguments } from "../args.ts";
import { type Deadline, startDeadline } from "../deadline.ts";
import { exitCodeOf, exitCodes } from "../exit-codes.ts";
import { connectMcpServers } from "../mcp-servers.ts";
import { checkLiveFormat, createEarlyFormat, createOutputFormat } from "../output-format.ts";
import { type Planned, planSession } from "../plan-session.ts";
import { watchSignals } from "../signals.ts";

/** `--input-format stream-json`: a host writes messages and requests, line by line, and reads frames. */
export async function runLiveCommand({ flags, positionals }: Arguments, warn: (line: string) => void): Promise<number> {
  checkLiveFormat(flags);
  if (positionals.some((word) => word !== "-"))
    throw new RuntimeError("usage", "With --input-format stream-json the prompt comes on stdin, not as an argument");
  const signals = watchSignals(exitCodes.cancelled);
  let deadline: Deadline | undefined;
  let opened: LiveSession | undefined;
  try {
    deadline = startDeadline(flags.deadline);
    const planned = await Promise.race([planSession(flags, warn), signals.early, deadline.early]);
    const { options } = planned;
    const sessionId = options.resumeSessionId ?? options.sessionId ?? "";
    const live = runLive({
      input: process.stdin,
      output: new LineOutput(process.stdout),
      sessionId,
      newId: createIdSeries(),
      early: createEarlyFormat("stream-json", { flavor: flags.flavor, sessionId, live: true }),
      asksHost: flags["permission-prompt-tool"] === "stdio",
      replayUserMessages: flags["replay-user-messages"] ?? false,
      warn,
      async open(setup, ways) {
        opened = await openSession({ flags, planned, setup, ways, warn });
        return opened;
      },
      describe: async (setup) => describe(planned, setup),
      parseServers: (value) => parseMcpServers(value ?? {}, { source: "mcp_set_servers", env: process.env }),
      settings: () => ({ effective: {}, sources: [...planned.resolved.sources], files: [...planned.resolved.files] }),
      rewind: async (target, dryRun) => {
        const checkpoints = await options.checkpoints?.();
        if (!checkpoints) return { canRewind: false, error: "File rewinding is not enabled." };
        return JSON.parse(JSON.stringify(await checkpoints.rewindFiles(target, { dryRun }))) as JsonObject; // data only
      },
    });
    signals.stop = () => live.stop("signal");
    deadline.stop = () => live.stop("deadline");
    const outcome = await live.done;
    return signals.insisted ? exitCodes.killed : exitCodeOf(outcome);
  } finally {
    await opened?.session.shutdown();
    await opened?.mcp?.close();
    deadline?.close();
    signals.close();
    // Whatever a tool, a server or an open stdin keeps must not keep a finished run alive.
    setImmediate(() => process.exit());
  }
}

type Opening = {
  readonly flags: Arguments["flags"];
  readonly planned: Planned;
  readonly setup: LiveSetup;
  readonly ways: LiveWays;
  readonly warn: (line: string) => void;
};

async function openSession({ flags, planned, setup, ways, warn }: Opening): Promise<LiveSession> {
  const { options } = planned;
  const env = options.env ?? {};
  const asksHost = flags["permission-prompt-tool"] === "stdio";
  const connection = { cwd: options.cwd, env, hostTransport: ways.hostTransport, ...(asksHost && { elicit: ways.elicit }) };
  const hosted = setup.hostServers.map((name) => [name, { type: "sdk", name }] as const);
  const configs = new Map([...(planned.mcpServers ?? []), ...hosted]);
  const mcp = configs.size > 0 ? await connectMcpServers(configs, flags, { ...connection, warn }) : new McpServers(connection);
  const session = new InteractiveSession({
    ...options,
    ...(await setupOptions(setup, options)),
    tools: [...(options.tools ?? []), ...mcp.tools],
    answersPermissions: asksHost,
  });
  const format = await createOutputFormat({
    flags,
    session,
    options,
    live: true,
    keySource: planned.keySource,
    mcpServers: () => mcp.states,
  });
  return { session, format, mcp };
}

/** What the host asked for in `initialize`, over what the command line says. */
async function setupOptions(setup: LiveSetup, options: SessionOptions): Promise<Partial<SessionOptions>> {
  const { hooks, outputSchema, systemPrompt, appendSystemPrompt, agents, title } = setup;
  const { parseAgents } = await import("@outrider/runtime/admin");
  return {
    ...(hooks && { hooks }),
    ...(outputSchema && { outputSchema }),
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(appendSystemPrompt !== undefined && { appendSystemPrompt }),
    ...(agents && { agents: [...parseAgents(agents, "initialize").agents, ...(options.agents ?? [])] }),
    ...(title !== undefined && { sessionName: title }),
  };
}

async function describe({ options, resolved }: Planned, setup: LiveSetup): Promise<JsonObject> {
  const { builtinAgents, mergeAgents, parseAgents } = await import("@outrider/runtime/admin");
  const own = setup.agents ? parseAgents(setup.agents, "initialize").agents : [];
  const agents = mergeAgents([own, options.agents ?? [], options.builtinAgents ? builtinAgents : []]);
  const model = options.model ?? options.provider.model;
  return {
    commands: (options.commands ?? []).map(({ name, description }) => ({ name, description, argumentHint: "" })),
    agents: agents.map(({ name, description }) => ({ name, description })),
    models: [{ value: model, displayName: model, description: `${model} of ${options.provider.name}` }],
    account: {},
    output_style: "default",
    available_output_styles: ["default"],
    hooks_applied: true,
    hook_on_failure_supported: true,
    current_permission_mode: options.permissionMode ?? "default",
    setting_sources: [...resolved.sources],
    pid: process.pid,
  };
}
