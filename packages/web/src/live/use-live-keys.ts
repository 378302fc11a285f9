import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { nextTheme } from "../page/theme.ts";
import { chosen } from "./settings.ts";
import type { StepChoice } from "./use-steps.ts";

type Keys = {
  readonly choice: StepChoice;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly onInterrupt: (() => void) | undefined;
};

/** Keys of an open session. Single ones work only outside of fields, and can be switched off. */
export function useLiveKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event)) return;
      const { choice, field, onInterrupt } = latest.current;
      if (event.key === "Escape") return onInterrupt?.();
      if (!chosen("single-keys")) return;
      const act: (() => void) | undefined = {
        j: () => choice.move(1),
        k: () => choice.move(-1),
        o: () => choice.toggleStep(),
        e: () => choice.moveToError(1),
        E: () => choice.moveToError(-1),
        t: () => nextTheme(),
        p: () => field.current?.focus(),
        y: () => void navigator.clipboard?.writeText(linkTo(choice.selected)).catch(() => undefined),
      }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

export function isTyping({ target }: Event): boolean {
  return target instanceof Element && (/^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.closest("dialog") !== null);
}

function linkTo(step: number): string {
  const [session = ""] = location.hash.slice(1).split("?");
  return `${location.origin}/#${session}${step > 0 ? `?step-${step}` : ""}`;
}
