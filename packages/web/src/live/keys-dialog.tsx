import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { KeyList, type KeyRow } from "../page/key-list.tsx";
import { Dialog } from "./dialog.tsx";
import { choose, chosen } from "./settings.ts";

const keyRows: readonly KeyRow[] = [
  ["Enter", "Send; while the agent runs: steer it"],
  ["Alt Enter", "Queue for the next turn"],
  ["Shift Enter", "New line"],
  ["Esc", "Close; interrupt; twice: stop, and drop what is queued"],
  ["@ /", "In the prompt: files, commands"],
  ["p", "Write a prompt"],
  ["g", "Search sessions"],
  ["[ ]", "Previous, next session that waits for you"],
  ["j k", "Next, previous step"],
  ["o", "Open or close the step"],
  ["e E", "Next, previous error"],
  ["y", "Copy a link to this place"],
  ["t", "Theme: system, light, dark"],
  ["a w d", "On a card, when switched on: allow once, always allow, deny"],
];

export function KeysDialog({ onClose }: { onClose: () => void }): JSX.Element {
  const [, redraw] = useState(0);
  const box = (choice: "single-keys" | "answer-keys", words: string): JSX.Element => (
    <label class="check">
      <input
        type="checkbox"
        checked={chosen(choice)}
        onChange={(event) => {
          choose(choice, event.currentTarget.checked);
          redraw((now) => now + 1);
        }}
      />
      {words}
    </label>
  );
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <KeyList rows={keyRows} />
      {box("single-keys", "Single keys work outside of fields")}
      {box("answer-keys", "a, w and d answer permission cards")}
    </Dialog>
  );
}
