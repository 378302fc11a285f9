import type { AgentEvent } from "../../protocol/events.ts";
import type { EventHub } from "../events/event-hub.ts";
import type { CommandGround } from "../prompts/command-turn.ts";
import { applyToSession, createCommandHost, type HostGround } from "./command-host.ts";

export type GroundParts = Omit<HostGround, "calls"> & { readonly hub: EventHub } & Pick<CommandGround, "questions" | "newId">;

/** What commands need of a session: its host, and what becomes of the effects they ask for. */
export function openCommandGround({ hub, questions, newId, ...parts }: GroundParts): CommandGround {
  const { session, options } = parts;
  const calls: HostGround["calls"] = async () => {
    await hub.flush();
    const events = (await options.sessionStore?.read(session.id, { types: ["message.ended", "side-call.ended"] })) ?? [];
    return events.filter(
      (event): event is AgentEvent<"message.ended" | "side-call.ended"> =>
        event.type === "message.ended" || event.type === "side-call.ended",
    );
  };
  const ground: HostGround = { ...parts, calls };
  const applyEffect: CommandGround["applyEffect"] = (effect) => applyToSession(effect, ground);
  return { host: createCommandHost(ground), applyEffect, questions, newId, open: () => session.open() };
}
