import { describeEnvironment, type EnvironmentFacts, type FolderFacts, storedEnvironment } from "../context/environment.ts";
import { retellSession, type SessionLines } from "../context/session-lines.ts";
import { joinParts, type PromptPart, promptParts } from "../context/system-prompt.ts";
import type { Policy } from "../permissions/policy.ts";
import { runsCommands, type Tool } from "../tools/tool.ts";
import type { Masked } from "../util/masked.ts";
import type { Redactor } from "../util/redact.ts";
import { defined } from "../util/defined.ts";
import type { SessionOptions } from "./session-options.ts";

export type PromptGround = {
  readonly root: string;
  readonly redactor: Redactor;
  readonly tools: ReadonlyMap<string, Tool>;
  /** The prompt on record; a resumed session keeps it to the letter, so that providers still find it in their cache. */
  readonly stored: string | undefined;
  /** Names and descriptions of the skills that are offered. */
  readonly skills?: string | undefined;
  readonly policy: () => Policy;
  /** Where commands run, as the model is told it. */
  readonly places: () => string | undefined;
};

/** The system prompt of one session: what it is made of, and how it follows the model and the mode. */
export type SessionPrompt = {
  readonly system: Masked<string>;
  /** For people who want to know; one part where it comes from the record. */
  readonly parts: readonly PromptPart[];
  /** What was checked out when the session began, where it was looked up. */
  readonly commit?: string | undefined;
  /** The same for another model and the mode of now. One that the caller wrote stays as it is. */
  retell(system: Masked<string>, model: string): Masked<string>;
};

export async function openPrompt(options: SessionOptions, model: string, ground: PromptGround): Promise<SessionPrompt> {
  const { redactor, stored } = ground;
  const { systemPrompt, agentPrompt, appendSystemPrompt, instructions, language, outputStyle } = options;
  const offers = offersOf(ground.tools);
  const linesFor = (id: string): SessionLines => sessionLines(options, id, { ...ground, runs: offers.runs });
  const retell = (system: Masked<string>, id: string): Masked<string> =>
    systemPrompt === undefined ? redactor.text(retellSession(system, linesFor(id))) : system;
  if (stored !== undefined && (systemPrompt ?? agentPrompt ?? appendSystemPrompt) === undefined) {
    const system = retell(redactor.text(stored), model);
    return { system, parts: [{ name: "given", text: system }], retell };
  }
  const environment = systemPrompt === undefined ? await environmentOf(options, ground) : undefined;
  const own: PromptPart[] =
    environment !== undefined
      ? promptParts({
          ...{ environment, session: linesFor(model), offers, language },
          ...{ isStyled: outputStyle?.keepsCoding === false, agent: agentPrompt },
        })
      : [{ name: "given", text: systemPrompt ?? "" }];
  const parts: PromptPart[] = [
    ...own,
    { name: "instructions" as const, text: instructions?.text ?? "" },
    { name: "memory" as const, text: options.projectMemory ?? "" },
    { name: "tasks" as const, text: options.taskContext ?? "" },
    { name: "skills" as const, text: ground.skills ?? "" },
    { name: "style" as const, text: outputStyle?.text ?? "" },
    { name: "appended" as const, text: appendSystemPrompt ?? "" },
  ].filter(({ text }) => text !== "");
  const hidden = parts.map(({ name, text }) => ({ name, text: redactor.text(text) }));
  const git = typeof environment === "object" ? environment.git : undefined;
  const commit = git?.type === "repository" ? git.commit : undefined;
  return { system: redactor.text(joinParts(parts)), parts: hidden, retell, commit };
}

/** For agents of the session, which work in the same surroundings or in another folder. */
export function environmentFor(options: Pick<SessionOptions, "now">, root: string, runs: boolean): string {
  return describeEnvironment(plainFacts(options, { root, runs }));
}

export function sessionLines(
  options: Pick<SessionOptions, "answersPermissions">,
  model: string,
  { policy, places, runs }: Pick<PromptGround, "policy" | "places"> & { readonly runs: boolean },
): SessionLines {
  const { mode, allow, networkReads } = policy();
  return {
    model,
    mode,
    answerable: options.answersPermissions ?? false,
    allow: allow.filter(({ exactly }) => !exactly).map(({ text }) => text), // answers that were remembered come and go
    networkReads,
    sandbox: runs ? places() : undefined,
    runsCommands: runs,
  };
}

/** In plan mode nothing may be changed: tools for that are not offered. */
export function isOffered(tool: Pick<Tool, "facts"> | undefined, { mode }: Pick<Policy, "mode">): boolean {
  return mode !== "plan" || tool?.facts?.kind !== "edit";
}

/** What was true when the session began stays: the same bytes over its whole life. */
async function environmentOf(options: SessionOptions, ground: PromptGround): Promise<EnvironmentFacts | string> {
  const kept = ground.stored === undefined ? undefined : storedEnvironment(ground.stored);
  if (kept !== undefined) return kept;
  const found: FolderFacts = options.sandboxClient ? {} : ((await options.folderFacts?.()) ?? {});
  const { directories } = ground.policy();
  const { root, tools } = ground;
  return { ...plainFacts(options, { root, runs: runsCommands(tools.values()) }), ...found, ...defined({ folders: directories }) };
}

function plainFacts(
  { now = Date.now }: Pick<SessionOptions, "now">,
  { root, runs }: { root: string; runs: boolean },
): EnvironmentFacts {
  return { cwd: root, platform: process.platform, date: new Date(now()), ...(runs && { shell: "bash" }) };
}

function offersOf(tools: ReadonlyMap<string, Tool>): { any: boolean; edits: boolean; runs: boolean } {
  const kinds = new Set([...tools.values()].map(({ facts }) => facts?.kind));
  return { any: kinds.size > 0, edits: kinds.has("edit"), runs: kinds.has("run") };
}
