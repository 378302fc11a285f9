import { least } from "../../util/least.ts";
import { realpathSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { HostedRequest } from "../../hosting/session-host.ts";
import type { CommandHostAdapters, CommandResult } from "../../commands/command.ts";
import type { Effort } from "../../model/model.ts";
import type { JsonObject, JsonValue } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { isLooserMode, type PermissionMode, permissionModes } from "../../protocol/permission.ts";
import { defined } from "../../util/defined.ts";
import { isInside } from "../../util/is-inside.ts";
import { type Client, may } from "./client.ts";
import { HttpProblem } from "./problem.ts";

/** What a client asks of a new session, as its schema has it. */
export type SessionWish = {
  readonly cwd?: string | undefined;
  readonly name?: string | undefined;
  readonly model?: string | undefined;
  /** A profile of the settings. Clients of other formats say so with a model's name. */
  readonly provider?: string | undefined;
  readonly agent?: string | undefined;
  readonly effort?: Effort | undefined;
  readonly permissionMode?: PermissionMode | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  readonly maxTurns?: number | undefined;
  readonly maxBudgetUsd?: number | undefined;
  readonly appendSystemPrompt?: string | undefined;
  readonly outputSchema?: JsonObject | undefined;
};

/** What holds for every session of the server. */
export type ServedDefaults = Omit<HostedRequest, "opening" | "session">;

/** The wish with its folder as it really is. Refused where the folder is none of those in which this client may work. */
export function checkWish(
  wish: SessionWish,
  client: Client,
  server: { roots: readonly string[]; defaults: ServedDefaults },
): SessionWish & { readonly cwd: string } {
  if (wish.outputSchema) checkSize(wish.outputSchema);
  checkModel(wish.model, client, server.defaults);
  checkModel(wish.provider, client, server.defaults);
  const roots = client.roots ?? server.roots;
  const wanted = wish.cwd ?? client.roots?.[0] ?? server.defaults.cwd ?? roots[0];
  if (wanted === undefined || !isAbsolute(wanted)) throw new RuntimeError("usage", "cwd is an absolute path of a folder");
  return { ...wish, cwd: checkFolder(wanted, roots) };
}

/** Of lists, objects and values in a schema. Compiling more keeps everybody else waiting. */
const maxSchemaNodes = 10_000;

function checkSize(schema: JsonObject): void {
  const open: JsonValue[] = [schema];
  let count = 0;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node === "object" && node !== null) for (const child of Object.values(node)) open.push(child);
    if (++count + open.length > maxSchemaNodes)
      throw new HttpProblem("too-large", `outputSchema is made of more than ${maxSchemaNodes} values`);
  }
}

/** The model `scripted/FILE` is a file of the host, which no rule and no root is asked about. */
export function checkModel(model: string | undefined, client: Client, defaults: ServedDefaults): void {
  if (model === undefined || model === defaults.model || may(client, "admin")) return;
  if (!/^scripted\b/i.test(model) && defaults.provider !== "scripted") return;
  throw new HttpProblem("forbidden", "A scripted model is read from a file of the host: it needs the scope admin");
}

/** What a mode is measured by: the one that a session has of which nobody wishes any, and whether it may be bypassed at all. */
export type OwnMode = { readonly mode: PermissionMode; readonly mayBypass: boolean };

/** A mode in which more happens unasked than in the server's own is for those who could have allowed it. */
export function checkMode(wanted: PermissionMode | undefined, client: Client, { mode, mayBypass }: OwnMode): void {
  if (wanted === "bypassPermissions") {
    if (may(client, "admin") && mayBypass) return;
    throw new HttpProblem(
      "forbidden",
      "bypassPermissions needs the scope admin, and a server that was started with --allow-dangerously-skip-permissions",
    );
  }
  if (wanted === undefined || !isLooserMode(wanted, mode) || may(client, "approve")) return;
  throw new HttpProblem(
    "forbidden",
    `The mode ${wanted} is looser than ${mode}, which the server has: it needs the scope approve`,
  );
}

/** Those that a typed command may choose: it does not know who typed it. */
function commandModes({ mode }: OwnMode): PermissionMode[] {
  return permissionModes.filter((one) => one !== "bypassPermissions" && !isLooserMode(one, mode));
}

const ownersCommand = async (): Promise<CommandResult> => ({
  success: false,
  message: "This changes what holds beyond the session: whoever runs the server does it, with the command outrider there",
});

/** Plugins, providers and what is kept for the user belong to whoever runs the server, and a command does not know who typed it. */
const ownersCommands: CommandHostAdapters = {
  plugins: ownersCommand,
  outputStyle: ownersCommand,
  language: ownersCommand,
  userLocal: ownersCommand,
  providerSettings: ownersCommand,
};

/** Links are followed first; what is not there is told like what is not allowed. */
function checkFolder(path: string, roots: readonly string[]): string {
  const refused = new HttpProblem("forbidden", `${path} is no folder below those in which sessions may work`);
  let real: string;
  try {
    real = realpathSync(path);
    if (!statSync(real).isDirectory()) throw refused;
  } catch {
    throw refused;
  }
  if (!roots.some((root) => isInside(root, real))) throw refused;
  return real;
}

/** A client adds to what the server forbids and lowers its limits; it never takes away from them. */
export function toRequest(wish: SessionWish, { options = {} }: ServedDefaults, own: OwnMode): HostedRequest {
  const { cwd, name, model, provider, agent, effort, permissionMode, disallowedTools, maxTurns, maxBudgetUsd, outputSchema } =
    wish;
  const appended = [options.appendSystemPrompt, wish.appendSystemPrompt].filter((text) => text !== undefined && text !== "");
  return {
    ...defined({ cwd, model, provider, mainAgent: agent }),
    keepsChanges: ["permissionMode", "model"],
    options: defined({
      effort,
      permissionMode,
      promptsFrom: "strangers" as const,
      commandModes: commandModes(own),
      commandAdapters: ownersCommands,
      outputSchema,
      sessionName: name,
      maxTurns: least(options.maxTurns, maxTurns),
      maxBudgetUsd: least(options.maxBudgetUsd, maxBudgetUsd),
      disallowedTools: disallowedTools && [...(options.disallowedTools ?? []), ...disallowedTools],
      appendSystemPrompt: appended.length > 0 ? appended.join("\n\n") : undefined,
    }),
    opening: { answers: "host", options: { answersInteractions: true } },
  };
}
