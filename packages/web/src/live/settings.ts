/** What a reader has chosen for this browser. It is kept where the browser lets it. */
export type Choice = "notify" | "single-keys" | "answer-keys";

const names: Readonly<Record<Choice, string>> = {
  notify: "outrider-notify",
  "single-keys": "outrider-single-keys",
  "answer-keys": "outrider-answer-keys",
};
/** A key that answers a question is pressed by mistake more easily than a button: whoever wants it says so. */
const atFirst: Readonly<Record<Choice, boolean>> = { notify: false, "single-keys": true, "answer-keys": false };

export function chosen(choice: Choice): boolean {
  const kept = localStorage.getItem(names[choice]);
  return kept === null ? atFirst[choice] : kept === "yes";
}

export function choose(choice: Choice, value: boolean): void {
  localStorage.setItem(names[choice], value ? "yes" : "no");
}
