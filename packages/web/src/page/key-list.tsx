import type { JSX } from "preact";

/** Keys, several with a space between them, and what they do. */
export type KeyRow = readonly [keys: string, what: string];

export function KeyList({ rows }: { rows: readonly KeyRow[] }): JSX.Element {
  return (
    <dl class="keys">
      {rows.map(([keys, what]) => (
        <>
          <dt>
            {keys.split(" ").map((key) => (
              <>
                <kbd class="kbd">{key}</kbd>{" "}
              </>
            ))}
          </dt>
          <dd>{what}</dd>
        </>
      ))}
    </dl>
  );
}
