import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import type { Comparison, Deed, DeedPair } from "../model/compare-runs.ts";
import { Icon, type IconName } from "./icons.tsx";
import { PlusMinus } from "./output.tsx";
import { plain } from "./text.tsx";
import { usePrinting } from "./use-printing.ts";
import { maxPrinted } from "./use-reading.ts";
import { useVirtual } from "./use-virtual.ts";

export type Show = "all" | "differences" | "errors";

/** What two runs did, pair by pair; of a long list only what is seen is in the page. */
export function PairList({ comparison, show }: { comparison: Comparison; show: Show }): JSX.Element {
  const list = useRef<HTMLOListElement>(null);
  const isPrinting = usePrinting();
  const rows = useMemo(() => rowsOf(comparison, show), [comparison, show]);
  const keys = useMemo(() => rows.map(({ key }) => key), [rows]);
  const seen = useVirtual(keys, () => 31, list, isPrinting && rows.length <= maxPrinted);
  return (
    <ol class="al" ref={list}>
      {seen.above > 0 && <li class="room" aria-hidden="true" style={{ height: `${seen.above}px` }} />}
      {rows.slice(seen.from, seen.to).map(({ key, pair }, index) =>
        pair ? (
          <PairRow key={key} pair={pair} place={{ of: rows.length, at: seen.from + index + 1 }} />
        ) : (
          <li key={key} class="part" data-n={seen.from + index + 1}>
            <span>They part here</span>
          </li>
        ),
      )}
      {seen.below > 0 && <li class="room" aria-hidden="true" style={{ height: `${seen.below}px` }} />}
    </ol>
  );
}

function rowsOf({ pairs, partsAt }: Comparison, show: Show): Row[] {
  return pairs.flatMap((pair, at): Row[] => {
    if (!fits(pair, show)) return [];
    const row = { key: String(at), pair };
    return at === partsAt && at > 0 ? [{ key: "part" }, row] : [row];
  });
}

function fits({ kind, a, b }: DeedPair, show: Show): boolean {
  if (show === "differences") return kind !== "same";
  if (show === "errors") return [a, b].some((deed) => deed && deed.status !== "ok");
  return true;
}

const signs = {
  same: ["=", "alike"],
  alike: ["≈", "differ"],
  "only-a": ["‹", "only in A"],
  "only-b": ["›", "only in B"],
} as const;
const looks = { same: "r-eq", alike: "r-df", "only-a": "r-la", "only-b": "r-rb" } as const;

type Row = { readonly key: string; readonly pair?: DeedPair };

function PairRow({ pair, place }: { pair: DeedPair; place: { readonly of: number; readonly at: number } }): JSX.Element {
  const [sign, word] = signs[pair.kind];
  return (
    <li class={`two ${looks[pair.kind]}`} data-n={place.at} aria-setsize={place.of} aria-posinset={place.at}>
      <DeedCell deed={pair.a} side="A" />
      <span class="sp">
        <span aria-hidden="true">{sign}</span>
        <span class="sr">{word}</span>
      </span>
      <DeedCell deed={pair.b} side="B" />
    </li>
  );
}

function DeedCell({ deed, side }: { deed: Deed | undefined; side: string }): JSX.Element {
  if (!deed) {
    return (
      <div class="cc none">
        <span class="sr">No matching step in run {side}</span>
      </div>
    );
  }
  const bad = deed.status === "error" || deed.status === "denied" || deed.status === "unknown";
  const icon: IconName = deed.status === "denied" ? "denied" : bad ? "error" : (deed.kind as IconName);
  return (
    <div class={`cc${bad ? " bad" : ""}`}>
      <span class="step-n">{deed.step}</span>
      <Icon name={icon} class={bad ? "c-error" : "k"} />
      <b>{plain(deed.tool)}</b>
      <span class={`${deed.tool === "" ? "txt" : "mono"} trunc`} title={deed.preview}>
        {plain(deed.preview)}
      </span>
      <span class="res">
        {deed.added === undefined ? plain(deed.result) : <PlusMinus added={deed.added} removed={deed.removed ?? 0} />}
      </span>
    </div>
  );
}
