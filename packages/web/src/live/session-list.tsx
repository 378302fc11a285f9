import type { JSX, RefObject } from "preact";
import { useState } from "preact/hooks";
import { Icon, type IconName, Mark } from "../page/icons.tsx";
import { plain } from "../page/text.tsx";
import { nextTheme } from "../page/theme.ts";
import type { ListState, Rights, SessionRow } from "./live-types.ts";

const stateLooks: Readonly<Record<ListState, { readonly icon: IconName; readonly colour: string; readonly word: string }>> = {
  waiting: { icon: "waiting", colour: "c-waiting", word: "waiting for you" },
  working: { icon: "running", colour: "c-running spin", word: "running" },
  completed: { icon: "ok", colour: "c-ok", word: "completed" },
  failed: { icon: "error", colour: "c-error", word: "failed" },
  stopped: { icon: "stopped", colour: "c-stopped", word: "stopped by a limit" },
  cancelled: { icon: "stopped", colour: "c-stopped", word: "interrupted" },
  unfinished: { icon: "warn", colour: "c-warn", word: "cut off" },
  new: { icon: "todo", colour: "dimmer", word: "not begun" },
};

type Props = {
  readonly sessions: readonly SessionRow[];
  readonly current: string | undefined;
  readonly rights: Rights;
  readonly name: string;
  readonly isConnected: boolean;
  readonly search: RefObject<HTMLInputElement | null>;
  readonly onChoose: (id: string | undefined) => void;
  readonly onSignOut: () => void;
  readonly onKeys: () => void;
};

/** All sessions, those that wait for somebody first. */
export function SessionList(props: Props): JSX.Element {
  const { sessions, rights, search, isConnected, name } = props;
  const [query, setQuery] = useState("");
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (row: SessionRow): boolean => {
    const text = `${titleOf(row)} ${row.cwd} ${row.id} ${stateLooks[row.state].word}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const shown = sessions.filter(fits);
  return (
    <div class="side" role="complementary" aria-label="Sessions">
      <h1 class="sr only-list">Sessions</h1>
      <div class="side-h">
        <span class="brand">
          <Mark />
          Outrider
        </span>
        <span class="grow" />
        <button type="button" class="btn btn-quiet btn-i" aria-label="Change theme" onClick={nextTheme}>
          <Icon name="theme" />
        </button>
        {rights.mayDrive && (
          <button type="button" class="btn" onClick={() => props.onChoose(undefined)}>
            <Icon name="plus" class="i-s" />
            New
          </button>
        )}
      </div>
      <div class="side-s">
        <label class="field">
          <span class="sr">Search sessions</span>
          <Icon name="search" class="i-s" />
          <input
            ref={search}
            type="search"
            placeholder="Search sessions"
            value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Escape") return;
              setQuery("");
              event.currentTarget.blur();
            }}
          />
          <kbd class="kbd">g</kbd>
        </label>
      </div>
      <nav class="side-l" aria-label="Session list">
        <Group {...props} title="Waiting for you" rows={shown.filter(({ state }) => state === "waiting")} />
        <Group {...props} title="Running" rows={shown.filter(({ state }) => state === "working")} />
        <Group {...props} title="Done" rows={shown.filter(({ state }) => state !== "waiting" && state !== "working")} />
        {shown.length === 0 && (
          <p class="side-e dimmer" role="status">
            {sessions.length === 0 ? "There are no sessions yet." : `None of ${sessions.length} sessions fits.`}
          </p>
        )}
      </nav>
      <div class="side-f">
        {isConnected ? (
          <span class="st dimmer">
            <Icon name="ok" class="i-s c-ok" />
            Connected
          </span>
        ) : (
          <span class="st">
            <Icon name="offline" class="i-s c-warn" />
            Reconnecting
          </span>
        )}
        <span class="grow" />
        <button type="button" class="btn btn-quiet btn-i" aria-label="Keys" title="Keys" onClick={props.onKeys}>
          <span class="mono">?</span>
        </button>
        <button type="button" class="btn btn-quiet" title={`Signed in as ${name}`} onClick={props.onSignOut}>
          Sign out
        </button>
      </div>
    </div>
  );
}

function Group({ title, rows, current, onChoose }: Props & { title: string; rows: readonly SessionRow[] }): JSX.Element | null {
  if (rows.length === 0) return null;
  const id = `group-${title.split(" ")[0]?.toLowerCase()}`;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {title}
        <span class="n">{rows.length}</span>
      </h2>
      <ul>
        {rows.map((row) => {
          const { icon, colour, word } = stateLooks[row.state];
          return (
            <li key={row.id}>
              <a
                href={`#/${row.id}`}
                class="srow"
                data-session={row.id}
                aria-current={row.id === current ? "page" : undefined}
                onClick={(event) => {
                  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                  event.preventDefault();
                  onChoose(row.id);
                }}
              >
                <Icon name={icon} class={colour} />
                <span class="s-t trunc">{plain(titleOf(row))}</span>
                <span class="s-w">
                  <span class="trunc">{plain(folderName(row.cwd))}</span>
                  <span class="trunc s-a">· {row.asks ?? word}</span>
                </span>
                <time class="s-e" dateTime={row.updatedAt} title={new Date(row.updatedAt).toLocaleString()}>
                  {shortTime(row.updatedAt)}
                </time>
              </a>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

export function titleOf({ name, prompt, id }: Pick<SessionRow, "name" | "prompt" | "id">): string {
  return name ?? (prompt?.split("\n", 1)[0]?.trim() || `Session ${id.slice(0, 8)}`);
}

export function folderName(cwd: string): string {
  return cwd.split("/").at(-1) || cwd;
}

function shortTime(iso: string): string {
  const then = new Date(iso);
  const isToday = then.toDateString() === new Date().toDateString();
  return isToday
    ? then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })
    : then.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}
