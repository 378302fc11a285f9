import type { HostedRequest, SessionHost } from "../../hosting/session-host.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { defined } from "../../util/defined.ts";
import type { DialectHost } from "./serve-dialects.ts";

/** Names that stand for the model of the settings, for clients that must name one. */
const usualModels: ReadonlySet<string> = new Set(["default", "outrider"]);

/** Does a client that must name a model mean the one of the settings? */
export function isUsualModel(model: string | undefined): boolean {
  return model === undefined || usualModels.has(model);
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
    async open({ sessionId, model }) {
      const chosen = isUsualModel(model) ? undefined : model;
      const wanted: HostedRequest = { ...request, ...defined({ model: chosen }), opening: { ...request.opening, answers: null } };
      if (sessionId === undefined) return await host.create(wanted);
      if (!isSessionName(sessionId)) throw new RuntimeError("usage", "A session is named with letters, digits, - and _");
      if (await isKnown(host, sessionId)) return await host.open(sessionId, wanted);
      return await host.create({ ...wanted, session: { type: "new", id: sessionId } });
    },
  };
}

async function isKnown(host: SessionHost, sessionId: string): Promise<boolean> {
  return (await host.store?.has(sessionId)) ?? false;
}
