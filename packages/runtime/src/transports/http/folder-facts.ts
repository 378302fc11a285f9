import type { CommandSummary } from "../../commands/command.ts";
import type { SessionHost } from "../../hosting/session-host.ts";
import type { OwnMode } from "./session-wish.ts";

/** The mode of a session in this folder of which nobody wishes any: the server's flag says it, or the settings that hold there. */
export async function modeOf(host: SessionHost, cwd: string | undefined, mayBypass: boolean): Promise<OwnMode> {
  const { permissionMode: mode = "default" } = (await host.plan({ cwd })).options;
  return { mode, mayBypass };
}

/** What a prompt that begins with a slash may start in this folder. */
export async function commandsOf(
  host: SessionHost,
  cwd: string,
  warn: (line: string) => void,
): Promise<readonly CommandSummary[]> {
  const [{ toOptions }, { listCommands }] = await Promise.all([
    import("../../hosting/open-session.ts"),
    import("../../session/prompts/session-commands.ts"),
  ]);
  return listCommands(await toOptions(await host.plan({ cwd }), { warn }));
}

/** What may be named beside models in this folder: its agents and profiles. */
export async function modelNamesOf(host: SessionHost, cwd: string): Promise<string[]> {
  const [{ options, resolved }, { mainAgents }, { modelNames }] = await Promise.all([
    host.plan({ cwd }),
    import("../../hosting/main-agent.ts"),
    import("../dialects/dialect-host.ts"),
  ]);
  const agents = mainAgents(options).map(({ name }) => name);
  return modelNames({ agents, profiles: Object.keys(resolved.settings.provider.providers) });
}
