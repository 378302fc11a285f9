import { readdirSync } from "node:fs";
import { join } from "node:path";
import { findSkills, readSkill } from "../commands/skills/find-skills.ts";
import { preprocessShellCommands } from "../commands/skills/shell-commands.ts";
import { isJsonObject, type JsonValue } from "../protocol/content.ts";
import type { LoadedBundlePlugin } from "./plugin.ts";

/** One thing that a bundle runs, allows or tells the model, in words for a person; not escaped. */
export type PluginExecutor = {
  readonly kind: "hook" | "mcp-server" | "command" | "allow-rule" | "program" | "system-prompt";
  readonly what: string;
};

/** What somebody says yes to when they install it. */
export async function pluginExecutors(plugin: LoadedBundlePlugin): Promise<PluginExecutor[]> {
  const { writtenHooks, servers, manifest, bin, skillFolders, path, data } = plugin;
  const { skills } = await findSkills(skillFolders);
  const all: PluginExecutor[] = [
    ...writtenHooks.flatMap((hooks) => (isJsonObject(hooks) ? Object.entries(hooks).flatMap(hooksOf) : [])),
    ...servers.map(({ name, value }): PluginExecutor => ({ kind: "mcp-server", what: `${name}: ${describeServer(value)}` })),
    ...skills.flatMap((skill): PluginExecutor[] => [
      ...preprocessShellCommands(readSkill(skill)).map(
        ({ command }): PluginExecutor => ({ kind: "command", what: `/${skill.name}: ${command}` }),
      ),
      ...Object.entries(skill.hooks ?? {})
        .flatMap(hooksOf)
        .map(({ what }): PluginExecutor => ({ kind: "hook", what: `/${skill.name}: ${what}` })),
      ...skill.allowedTools.map((rule): PluginExecutor => ({ kind: "allow-rule", what: `/${skill.name}: ${rule}` })),
    ]),
    ...manifest.permissions.allow.map((rule): PluginExecutor => ({ kind: "allow-rule", what: rule })),
    ...(bin === undefined ? [] : readdirSync(bin)).map((name): PluginExecutor => ({ kind: "program", what: join("bin", name) })),
    ...(manifest.systemPrompt === undefined ? [] : [{ kind: "system-prompt", what: manifest.systemPrompt } as const]),
  ];
  // Wherever it lies: what is compared and shown is what its author wrote.
  return all.map(({ kind, what }) => ({
    kind,
    what: what.replaceAll(path, `\${CLAUDE_PLUGIN_ROOT}`).replaceAll(data, `\${CLAUDE_PLUGIN_DATA}`),
  }));
}

function hooksOf([event, groups]: [string, JsonValue]): PluginExecutor[] {
  return (Array.isArray(groups) ? groups : []).flatMap((group) => {
    const { matcher, hooks } = isJsonObject(group) ? group : {};
    const shown = typeof matcher === "string" && matcher !== "" ? ` (${matcher})` : "";
    return (Array.isArray(hooks) ? hooks : []).map((hook): PluginExecutor => {
      const { command, args, url, prompt, headers } = isJsonObject(hook) ? hook : {};
      const words = [command ?? url ?? prompt ?? hook, ...(Array.isArray(args) ? args : [])].map(inWords);
      return { kind: "hook", what: `${event}${shown}: ${[...words, ...pairsOf("headers", headers)].join(" ")}` };
    });
  });
}

function describeServer(value: JsonValue): string {
  if (!isJsonObject(value)) return inWords(value);
  const { command, args, url, env, headers, headersHelper } = value;
  const line = command === undefined ? [] : [command, ...(Array.isArray(args) ? args : [])];
  const place = url === undefined ? [] : [url];
  const words = [...line, ...place].map(inWords);
  const helper = headersHelper === undefined ? [] : [`(headersHelper: ${inWords(headersHelper)})`];
  const shown = words.length > 0 ? words : [inWords(value)];
  return [...shown, ...pairsOf("env", env), ...pairsOf("headers", headers), ...helper].join(" ");
}

/** What its program or its address is given, as it is written: a name in there may stand for a secret of the reader's. */
function pairsOf(name: string, value: JsonValue | undefined): string[] {
  if (!isJsonObject(value) || Object.keys(value).length === 0) return [];
  return [
    `(${name}: ${Object.entries(value)
      .map(([key, text]) => `${key}=${inWords(text)}`)
      .join(", ")})`,
  ];
}

function inWords(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
