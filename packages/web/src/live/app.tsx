import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../page/icons.tsx";
import { plain } from "../page/text.tsx";
import type { Api } from "./api.ts";
import { KeysDialog } from "./keys-dialog.tsx";
import { type Me, rightsOf } from "./live-types.ts";
import { NewSession } from "./new-session.tsx";
import { askToNotify, isNotifying, notify } from "./notify.ts";
import { SessionList, titleOf } from "./session-list.tsx";
import { type Pane, SessionView } from "./session-view.tsx";
import { choose, chosen } from "./settings.ts";
import { isTyping } from "./use-live-keys.ts";
import { type SessionNews, useSessionList } from "./use-session-list.ts";

/** The whole page of somebody who is signed in. */
export function App({ api, me, onSignOut }: { api: Api; me: Me; onSignOut: () => void }): JSX.Element {
  const rights = rightsOf(me);
  const [current, setCurrent] = useState(sessionInHash);
  const [pane, setPane] = useState<Pane>(current === undefined ? "list" : "session");
  const [toast, setToast] = useState<{ words: string; id?: string | undefined }>();
  const [showsKeys, showKeys] = useState(false);
  const [notifies, setNotifies] = useState(isNotifying);
  const search = useRef<HTMLInputElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);

  const open = (id: string | undefined): void => {
    history.pushState(null, "", id === undefined ? "#/" : `#/${id}`);
    setCurrent(id);
    setPane("session");
    setToast(undefined);
  };
  const onNews = ({ row, what }: SessionNews): void => {
    const words = what === "waits" ? `${titleOf(row)} waits for you` : `${titleOf(row)} has ended`;
    notify({ words, tag: `${row.id}-${what}`, onClick: () => open(row.id) });
    if (row.id !== current && what === "waits") setToast({ words, id: row.id });
  };
  const { rows, isConnected, refresh } = useSessionList(api, onNews);
  const say = (words: string): void => setToast({ words });

  useEffect(() => {
    const onHash = (): void => setCurrent(sessionInHash());
    addEventListener("popstate", onHash);
    addEventListener("hashchange", onHash);
    return () => {
      removeEventListener("popstate", onHash);
      removeEventListener("hashchange", onHash);
    };
  }, []);
  // Whoever comes without an address sees what is most urgent.
  useEffect(() => {
    if (current !== undefined || !rows || location.hash !== "") return;
    const first = rows.find(({ state }) => state === "waiting") ?? rows[0];
    if (first && (matchMedia("(min-width: 45.0625em)").matches || !rights.mayDrive)) setCurrent(first.id);
  }, [rows === undefined]);
  useListKeys({
    g: () => search.current?.focus(),
    "?": () => showKeys(true),
    "[": () => open(nextWaiting(-1)),
    "]": () => open(nextWaiting(1)),
  });
  const nextWaiting = (by: 1 | -1): string | undefined => {
    const waiting = (rows ?? []).filter(({ state }) => state === "waiting").map(({ id }) => id);
    const at = waiting.indexOf(current ?? "");
    return waiting.length === 0 ? current : waiting[(at + by + waiting.length) % waiting.length];
  };
  const row = rows?.find(({ id }) => id === current);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById("ask")?.focus()}>
        Skip to what waits for you
      </button>
      <button type="button" class="skip" onClick={() => field.current?.focus()}>
        Skip to the prompt
      </button>
      <div class={`app${current === undefined ? " is-new" : ""}`} data-view={pane}>
        <SessionList
          sessions={rows ?? []}
          current={current}
          rights={rights}
          name={me.name}
          isConnected={isConnected}
          search={search}
          onChoose={open}
          onSignOut={onSignOut}
          onKeys={() => showKeys(true)}
        />
        {current === undefined ? (
          rights.mayDrive ? (
            <NewSession
              api={api}
              field={field}
              folders={[...new Set((rows ?? []).map(({ cwd }) => cwd))].slice(0, 20)}
              say={say}
              onBack={() => setPane("list")}
              onBegun={(id) => {
                open(id);
                refresh();
              }}
            />
          ) : (
            <main class="main">
              <div class="blank">
                <p class="empty">
                  <b>No session is chosen.</b>Choose one in the list. Your token may look, and nothing else.
                </p>
              </div>
            </main>
          )
        ) : (
          <SessionView
            key={current}
            api={api}
            id={current}
            title={row ? titleOf(row) : `Session ${current.slice(0, 8)}`}
            rights={rights}
            pane={pane}
            setPane={setPane}
            isNotifying={notifies}
            field={field}
            onNotify={() => {
              if (notifies) {
                choose("notify", false);
                setNotifies(false);
              } else void askToNotify().then(setNotifies);
            }}
            say={say}
          />
        )}
        {toast && (
          <div class="toast pop" role="status">
            <Icon name={toast.id === undefined ? "warn" : "waiting"} class={toast.id === undefined ? "c-warn" : "c-waiting"} />
            <span class="grow">
              {plain(toast.words)}{" "}
              {toast.id !== undefined && (
                <button type="button" class="btn btn-quiet" onClick={() => open(toast.id)}>
                  Open
                </button>
              )}
            </span>
            <button type="button" class="btn btn-quiet btn-i" aria-label="Dismiss" onClick={() => setToast(undefined)}>
              <Icon name="x" class="i-s" />
            </button>
          </div>
        )}
      </div>
      {showsKeys && <KeysDialog onClose={() => showKeys(false)} />}
    </>
  );
}

function sessionInHash(): string | undefined {
  return /^#\/([\w.:-]+)/.exec(location.hash)?.[1];
}

function useListKeys(acts: Readonly<Record<string, () => void>>): void {
  const latest = useRef(acts);
  latest.current = acts;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || !chosen("single-keys")) return;
      const act = latest.current[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
