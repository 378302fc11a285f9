import type { AgentEvent, EventType } from "../../protocol/events.ts";
import type { EventHub } from "../events/event-hub.ts";
import type { CommandGround } from "../prompts/command-turn.ts";
import { applyToSession, createCommandHost, type HostGround } from "./command-host.ts";

export type GroundParts = Omit<HostGround, "stored"> & { readonly hub: EventHub } & Pick<CommandGround, "questions" | "newId">;

/** What commands need of a session: its host, and what becomes of the effects they ask for. */
export function openCommandGround({ hub, questions, newId, ...parts }: GroundParts): CommandGround {
  const { session, options } = parts;
  const stored: HostGround["stored"] = async <T extends EventType>(...types: readonly T[]) => {
    await hub.flush();
    const events = (await options.sessionStore?.read(session.id, { types: [...types] })) ?? [];
    return events.filter(({ type }) => types.some((wanted) => wanted === type)) as AgentEvent[] as AgentEvent<T>[]; // by their types
  };
  const ground: HostGround = { ...parts, stored };
  const applyEffect: CommandGround["applyEffect"] = (effect) => applyToSession(effect, ground);
  return { host: createCommandHost(ground), applyEffect, questions, newId, open: () => session.open() };
}
