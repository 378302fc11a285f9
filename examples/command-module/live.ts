// node live.ts < prompts.ndjson
import { createClaudeFormat, createIdSeries, LineOutput } from "@outrider/runtime/host";
import { runLive } from "@outrider/runtime/live";
import { parseMcpServers } from "@outrider/runtime/mcp";
import { openHost } from "./host.ts";

const host = openHost();
const plan = await host.plan({ persistent: false });
await plan.begin();
const { session, id: sessionId } = await host.openPlan(plan); // it begins with its first prompt
const ids = { sessionId, newId: createIdSeries() };
const commands = () => session.listCommands().map(({ name }) => name);
const format = createClaudeFormat("stream-json", { ...ids, commands });

const live = runLive({
  ...ids,
  input: process.stdin,
  output: new LineOutput(process.stdout),
  early: format,
  open: async () => ({ session, format, mcp: undefined, permissions: undefined }),
  describe: async () => ({ commands: commands() }),
  parseServers: (value) => parseMcpServers(value ?? {}, { source: "the host", env: process.env }),
  settings: () => ({}),
  rewind: async () => ({ canRewind: false }),
  replayUserMessages: false,
  warn: (line) => process.stderr.write(`${line}\n`),
});
await live.done;
await host.shutdown();
