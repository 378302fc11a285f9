import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { nextTheme } from "./theme.ts";
import { type Reading, tabNames } from "./use-reading.ts";

type Places = { readonly search: RefObject<HTMLInputElement | null>; readonly dialog: RefObject<HTMLDialogElement | null> };

/** What the keys of the page do, and its address. Single keys work only outside of fields. */
export function useKeys(reading: Reading, { search, dialog }: Places): void {
  const latest = useRef(reading);
  latest.current = reading;

  useEffect(() => {
    const onHash = (): void => latest.current.follow();
    if (location.hash) onHash();
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, []);

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || dialog.current?.open) return; // a dialog has keys of its own
      const now = latest.current;
      const target = event.target as HTMLElement;
      if (/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) {
        if (event.key !== "Escape") return;
        now.setQuery("");
        target.blur();
        return;
      }
      const chosen = tabNames[Number(event.key) - 1];
      const act: (() => void) | undefined = {
        j: () => now.move(1),
        k: () => now.move(-1),
        e: () => now.moveToError(1),
        E: () => now.moveToError(-1),
        o: () => now.toggleStep(),
        x: () => now.expandAll(),
        t: () => nextTheme(),
        "/": () => search.current?.focus(),
        "?": () => dialog.current?.showModal(),
        y: () => copyLink(now),
        Escape: () => {
          now.clear();
          now.showOutline(false);
        },
      }[event.key];
      if (!act && !chosen) return;
      event.preventDefault();
      if (act) act();
      else if (chosen) now.setTab(chosen);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

/** To the step that is read, or to the tab. */
function copyLink({ tab, selected }: Reading): void {
  const place = tab !== "steps" ? tab : selected > 0 ? `step-${selected}` : "";
  const link = `${location.href.replace(/#.*$/, "")}${place === "" ? "" : `#${place}`}`;
  navigator.clipboard?.writeText(link).catch(() => undefined);
}
