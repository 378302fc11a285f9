const themes = ["", "light", "dark"] as const;
const key = "outrider-theme";

/** The reader's choice stays where the browser lets it; a file may have no place to keep anything. */
export function restoreTheme(): void {
  const asked = new URLSearchParams(location.search).get("theme");
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(key);
  } catch {
    // no storage here
  }
  setTheme(asked ?? kept ?? "");
}

export function nextTheme(): void {
  const now = document.documentElement.dataset["theme"] ?? "";
  setTheme(themes[((themes as readonly string[]).indexOf(now) + 1) % themes.length] ?? "");
}

function setTheme(name: string): void {
  if (name === "light" || name === "dark") document.documentElement.dataset["theme"] = name;
  else delete document.documentElement.dataset["theme"];
  try {
    localStorage.setItem(key, name);
  } catch {
    // no storage here
  }
}
