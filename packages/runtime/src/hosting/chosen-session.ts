import { createMemoryStore } from "../journal/memory-store.ts";
import { checkSessionId } from "../journal/store-place.ts";
import type { SessionStore } from "../journal/store.ts";
import { RuntimeError } from "../protocol/errors.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { defined } from "../util/defined.ts";
import { randomUuid } from "../util/unique-ids.ts";
import type { SessionChoice } from "./session-request.ts";

export type ChosenSession = {
  readonly id: string;
  readonly options: Pick<SessionOptions, "sessionId" | "resumeSessionId" | "resumeAt" | "sessionName" | "sessionStore">;
  /** Stores what the session begins with, such as a copy; for when everything else is known to be right. */
  begin(): Promise<void>;
};

/** A choice to the options of the session that is opened. What goes on in a copy is the copy. */
export function toChosenSession(choice: SessionChoice, store: SessionStore | undefined): ChosenSession {
  switch (choice.type) {
    case "new": {
      const { id = randomUuid(), seed } = choice;
      checkSessionId(id);
      if (!seed) return { id, options: { sessionId: id, sessionStore: store }, begin: nothing };
      const sessionStore = store ?? createMemoryStore();
      return { id, options: { resumeSessionId: id, sessionStore }, begin: () => seed(sessionStore, id) };
    }
    case "resume":
      requireStore(store);
      return { id: choice.id, options: { resumeSessionId: choice.id, resumeAt: choice.at, sessionStore: store }, begin: nothing };
    case "fork": {
      const { from, id, at, name } = choice;
      checkSessionId(id);
      const source = requireStore(store);
      const options = { resumeSessionId: id, sessionName: name, sessionStore: store };
      return { id, options, begin: () => source.fork(from, id, { ...defined({ at }), isOpenedNext: true }) };
    }
  }
}

async function nothing(): Promise<void> {}

function requireStore(store: SessionStore | undefined): SessionStore {
  if (store) return store;
  throw new RuntimeError("usage", "Only a session that is stored can be gone on with: give its sessionStore");
}
