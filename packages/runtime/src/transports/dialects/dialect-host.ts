import type { HostedRequest, SessionHost } from "../../hosting/session-host.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { defined } from "../../util/defined.ts";
import type { DialectHost } from "./serve-dialects.ts";

/** Names that stand for the model of the settings, for clients that must name one. */
const usualModels: ReadonlySet<string> = new Set(["default", "outrider"]);

/** What a client that must name a model means. */
export type ModelChoice = {
  readonly model?: string;
  /** The conversation is this agent. */
  readonly agent?: string;
  /** A profile of the settings, with its own model. */
  readonly provider?: string;
};

/** `agent/NAME` and `profile/NAME` beside the models themselves; `default` is what the settings say. */
export function toModelChoice(model: string | undefined): ModelChoice {
  if (model === undefined || usualModels.has(model)) return {};
  const [, kind, name] = /^(agent|profile)\/(.+)$/s.exec(model) ?? [];
  if (name === undefined) return { model };
  return kind === "agent" ? { agent: name } : { provider: name };
}

/** The names under which clients find what there is beside models. */
export function modelNames({
  agents,
  profiles,
}: {
  readonly agents: Iterable<string>;
  readonly profiles: Iterable<string>;
}): string[] {
  return [...[...agents].map((name) => `agent/${name}`), ...[...profiles].map((name) => `profile/${name}`)];
}

export function isSessionName(text: string): boolean {
  return /^[A-Za-z0-9][\w-]{0,199}$/.test(text);
}

export type DialectHostOptions = {
  readonly host: SessionHost;
  readonly version: string;
  /** What holds for every session. */
  readonly request?: HostedRequest | undefined;
};

/** Sessions of a host. Nobody is there to be asked: what no rule allows is denied. */
export function createDialectHost({ host, version, request = {} }: DialectHostOptions): DialectHost {
  return {
    version,
    async open({ sessionId, model, afterTurn }) {
      const { agent: mainAgent, ...chosen } = toModelChoice(model);
      const wanted: HostedRequest = {
        ...request,
        ...chosen,
        ...defined({ mainAgent }),
        opening: { ...request.opening, answers: null },
      };
      if (sessionId === undefined) return await host.create(wanted);
      if (!isSessionName(sessionId)) throw new RuntimeError("usage", "A session is named with letters, digits, - and _");
      if (afterTurn !== undefined) {
        const at = placeToCopy((await host.store?.read(sessionId, { types: ["turn.started", "turn.ended"] })) ?? [], afterTurn);
        return at === undefined ? await host.open(sessionId, wanted) : await host.fork(sessionId, { ...wanted, at });
      }
      if (await isKnown(host, sessionId)) return await host.open(sessionId, wanted);
      return await host.create({ ...wanted, session: { type: "new", id: sessionId } });
    },
  };
}

/** Where a copy ends that goes on from the end of this turn; undefined where the session itself can, since nothing came after it. */
export function placeToCopy(events: readonly AgentEvent[], turnId: string): number | undefined {
  const own = events.filter(({ taskId }) => taskId === undefined);
  const end = own.find((event) => event.type === "turn.ended" && event.turnId === turnId);
  const hasGoneOn = own.some((event) => event.type === "turn.started" && event.seq > (end?.seq ?? event.seq));
  return hasGoneOn ? end?.seq : undefined;
}

async function isKnown(host: SessionHost, sessionId: string): Promise<boolean> {
  return (await host.store?.has(sessionId)) ?? false;
}
