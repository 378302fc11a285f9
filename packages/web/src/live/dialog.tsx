import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../page/icons.tsx";

/** It opens as it appears, and what held the focus gets it back. */
export function Dialog({ title, onClose, children, isWide = false }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class={`pop${isWide ? " wide" : ""}`} aria-labelledby="dialog-t" onClose={onClose}>
      <div class="pop-h">
        <h2 id="dialog-t">{title}</h2>
        <button type="button" class="btn btn-quiet btn-i" aria-label="Close" onClick={() => dialog.current?.close()}>
          <Icon name="x" />
        </button>
      </div>
      <div class="pop-b">{children}</div>
    </dialog>
  );
}
type DialogProps = {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly isWide?: boolean;
};
