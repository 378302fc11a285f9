import type { JSX, RefObject } from "preact";
import { Icon } from "./icons.tsx";
import { KeyList, type KeyRow } from "./key-list.tsx";

const rows: readonly KeyRow[] = [
  ["j k", "Next, previous step"],
  ["o", "Open or close the step's calls"],
  ["e E", "Next, previous error"],
  ["/", "Search"],
  ["1 … 5", "Tabs"],
  ["x", "Expand all, collapse all"],
  ["y", "Copy a link to this place"],
  ["t", "Theme: system, light, dark"],
  ["Esc", "Clear search, close"],
];

export function KeysDialog({ dialog }: { dialog: RefObject<HTMLDialogElement | null> }): JSX.Element {
  return (
    <dialog ref={dialog} class="pop" aria-labelledby="keys-t">
      <div class="pop-h">
        <h2 id="keys-t">Keyboard</h2>
        <button type="button" class="btn btn-quiet btn-i" aria-label="Close" onClick={() => dialog.current?.close()}>
          <Icon name="x" />
        </button>
      </div>
      <KeyList rows={rows} />
    </dialog>
  );
}
