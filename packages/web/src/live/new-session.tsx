import type { JSX, RefObject } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "../page/icons.tsx";
import type { Api } from "./api.ts";
import { Composer } from "./composer.tsx";

type Props = {
  readonly api: Api;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  /** Folders that sessions have worked in. */
  readonly folders: readonly string[];
  readonly say: (words: string) => void;
  readonly onBack: () => void;
  readonly onBegun: (id: string) => void;
};

/** A folder, a model, a mode and the first prompt. */
export function NewSession({ api, field, folders, say, onBack, onBegun }: Props): JSX.Element {
  const [cwd, setCwd] = useState("");
  const [wish, setWish] = useState<{ model?: string; effort?: string; permissionMode?: string }>({});
  const begin = async (text: string): Promise<boolean> => {
    try {
      const body = { ...wish, ...(cwd.trim() !== "" && { cwd: cwd.trim() }) };
      const { id } = await api.send<{ id: string }>("POST", "/v1/sessions", body);
      await api.send("POST", `/v1/sessions/${id}/messages`, { text, wait: false }, crypto.randomUUID());
      onBegun(id);
      return true;
    } catch (error) {
      say((error as Error).message);
      return false;
    }
  };
  return (
    <main class="main" id="session" data-ready="yes">
      <header class="bar">
        <button type="button" class="btn btn-quiet btn-i only-s" aria-label="Back to sessions" onClick={onBack}>
          <Icon name="back" />
        </button>
        <div class="grow bar-t">
          <h1>New session</h1>
        </div>
      </header>
      <div class="blank">
        <div class="empty">
          <b>Start a session.</b>
          Give the agent a task below. It asks before it does what no rule and no mode lets it do.
          <label class="lab-over" for="cwd">
            Folder
          </label>
          <label class="field">
            <Icon name="list" class="i-s" />
            <input
              id="cwd"
              list="folders"
              placeholder="The first folder of the server"
              spellcheck={false}
              value={cwd}
              onInput={(event) => setCwd(event.currentTarget.value)}
            />
          </label>
          <datalist id="folders">
            {folders.map((folder) => (
              <option key={folder} value={folder} />
            ))}
          </datalist>
        </div>
      </div>
      <div class="dock">
        <div class="inner">
          <Composer
            api={api}
            sessionId={undefined}
            field={field}
            isWorking={false}
            isOffline={false}
            model={wish.model}
            mode={wish.permissionMode}
            effort={wish.effort}
            models={[]}
            context={undefined}
            costUsd={undefined}
            onWantModels={() => undefined}
            onSettings={(change) => setWish((now) => ({ ...now, ...change }))}
            onSend={begin}
            onInterrupt={() => undefined}
          />
        </div>
      </div>
    </main>
  );
}
