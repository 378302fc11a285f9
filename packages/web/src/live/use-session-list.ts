import { useEffect, useRef, useState } from "preact/hooks";
import type { Api } from "./api.ts";
import type { SessionRow } from "./live-types.ts";

const seenMs = 2_000;
/** Nobody looks at a hidden page; it only has to notice what somebody should be told. */
const hiddenMs = 10_000;

export type SessionNews = { readonly row: SessionRow; readonly what: "waits" | "ended" };

/** The sessions, asked for again and again; `onNews` hears what a person may want to be told. */
export function useSessionList(api: Api, onNews: (news: SessionNews) => void) {
  const [rows, setRows] = useState<readonly SessionRow[]>();
  const [isConnected, setConnected] = useState(true);
  const before = useRef(new Map<string, SessionRow["state"]>());
  const tell = useRef(onNews);
  tell.current = onNews;
  const ask = useRef<() => void>(() => {});
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const read = async (): Promise<void> => {
      clearTimeout(timer);
      try {
        const { sessions } = await api.get<{ sessions: SessionRow[] }>("/v1/page/sessions");
        if (isOver) return;
        for (const row of sessions) {
          const was = before.current.get(row.id);
          if (row.state === "waiting" && was !== "waiting" && before.current.size > 0) tell.current({ row, what: "waits" });
          if (was === "working" && row.state !== "working" && row.state !== "waiting") tell.current({ row, what: "ended" });
        }
        before.current = new Map(sessions.map(({ id, state }) => [id, state]));
        setRows((now) => (JSON.stringify(now) === JSON.stringify(sessions) ? now : sessions));
        setConnected(true);
      } catch {
        setConnected(false);
      }
      if (!isOver) timer = setTimeout(() => void read(), document.hidden ? hiddenMs : seenMs);
    };
    const onVisible = (): void => {
      if (!document.hidden) void read();
    };
    ask.current = () => void read();
    void read();
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [api]);
  return { rows, isConnected, refresh: () => ask.current() };
}
