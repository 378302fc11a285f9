import type { AgentEvent } from "../protocol/events.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { SessionStore } from "./store.ts";

/** Keeps sessions for as long as the process lives. */
export function createMemoryStore(): SessionStore {
  const journals = new Map<string, AgentEvent[]>();
  const open = new Set<string>();
  return {
    async open(sessionId) {
      if (open.has(sessionId))
        throw new RuntimeError("session-locked", `Session ${sessionId} already has a writer in this process`);
      open.add(sessionId);
      const events = journals.get(sessionId) ?? [];
      journals.set(sessionId, events);
      return {
        events: [...events],
        warnings: [],
        location: undefined,
        async append(batch) {
          if (!open.has(sessionId)) throw new RuntimeError("closed", `The journal of ${sessionId} is closed`);
          events.push(...structuredClone(batch));
        },
        async close() {
          open.delete(sessionId);
        },
      };
    },
    async read(sessionId, options = {}) {
      const after = options.after ?? 0;
      return structuredClone((journals.get(sessionId) ?? []).filter((event) => event.seq > after));
    },
    async list() {
      return [...journals].filter(([, events]) => events.length > 0).map(([sessionId]) => sessionId);
    },
  };
}
