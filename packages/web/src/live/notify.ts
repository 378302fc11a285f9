import { choose, chosen } from "./settings.ts";

export function isNotifying(): boolean {
  return chosen("notify") && "Notification" in window && Notification.permission === "granted";
}

/** Asks the browser, which asks the person. Answers whether notifications come from here on. */
export async function askToNotify(): Promise<boolean> {
  if (!("Notification" in window)) return false;
  const isGranted = (await Notification.requestPermission()) === "granted";
  choose("notify", isGranted);
  return isGranted;
}

/** Only to whoever looks elsewhere. Several tabs say the same thing once: the tag is the same. */
export function notify({ words, tag, onClick }: { words: string; tag: string; onClick: () => void }): void {
  if (!isNotifying() || (!document.hidden && document.hasFocus())) return;
  const shown = new Notification("Outrider", { body: words, tag });
  shown.onclick = () => {
    window.focus();
    onClick();
    shown.close();
  };
}
