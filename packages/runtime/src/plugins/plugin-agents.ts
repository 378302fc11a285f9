import { type Dirent, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { loadAgentFile } from "../tasks/agent-files.ts";
import type { AgentDefinition } from "../tasks/agent-definition.ts";
import type { Bundle } from "./load-plugin.ts";
import { fillIn } from "./plugin-variables.ts";

const maxDepth = 8;
const maxFiles = 200;

/** `plugin:folder:name`. What an agent of a bundle asks for beyond its text, tools and model is left out: it cannot choose its own freedom. */
export async function loadPluginAgents({ root, manifest, variables, options, warnings }: Bundle): Promise<AgentDefinition[]> {
  const files = (manifest.agents ?? ["agents"]).flatMap((name) => filesIn(join(root, name)));
  if (files.length > maxFiles) warnings.push(`${root} holds ${files.length} agents; the first ${maxFiles} were read`);
  const agents: AgentDefinition[] = [];
  for (const { path, above } of files.slice(0, maxFiles)) {
    const notes = { warnings, ignored: [] };
    const agent = await loadAgentFile(path, { notes, within: root, shownFrom: root });
    if (!agent) continue;
    const { permissionMode: _, hooks, mcpServers, memory, initialPrompt: __, ...rest } = agent;
    for (const [what, value] of Object.entries({ hooks, mcpServers, memory }))
      if (value !== undefined) warnings.push(`${what} of the agent ${agent.name} were left out: agents of plugins have none`);
    const name = [manifest.name, ...above, agent.name].join(":");
    agents.push({
      ...rest,
      name,
      prompt: fillIn(agent.prompt, { ...variables, ...options.shown }),
      source: `plugin ${manifest.name}`,
    });
  }
  return agents;
}

type AgentFile = { readonly path: string; readonly above: readonly string[] };

/** A file, or the files of a folder with those below it. */
function filesIn(path: string, above: readonly string[] = []): AgentFile[] {
  if (above.length === 0 && statSync(path, { throwIfNoEntry: false })?.isFile()) return [{ path, above }];
  return entriesOf(path).flatMap((entry): AgentFile[] => {
    const child = join(path, entry.name);
    if (entry.isDirectory()) return above.length < maxDepth ? filesIn(child, [...above, basename(child)]) : [];
    return entry.name.endsWith(".md") ? [{ path: child, above }] : [];
  });
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}
