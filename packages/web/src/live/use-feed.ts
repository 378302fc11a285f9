import { useEffect, useRef, useState } from "preact/hooks";
import type { Api } from "./api.ts";
import { SessionFeed, type View } from "./session-feed.ts";

/** The session as it is at this moment; undefined until anything is known of it. */
export function useFeed(api: Api, id: string): { readonly view: View | undefined; readonly retryNow: () => void } {
  const [view, setView] = useState<View>();
  const feed = useRef<SessionFeed | undefined>(undefined);
  useEffect(() => {
    setView(undefined);
    const opened = new SessionFeed(api, id, setView);
    feed.current = opened;
    const onOnline = (): void => opened.retryNow();
    addEventListener("online", onOnline);
    return () => {
      removeEventListener("online", onOnline);
      opened.close();
    };
  }, [api, id]);
  return { view, retryNow: () => feed.current?.retryNow() };
}
