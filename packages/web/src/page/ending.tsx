import type { JSX } from "preact";
import type { RunModel } from "../model/run-model.ts";
import { Icon } from "./icons.tsx";
import { plain } from "./text.tsx";

const endings = {
  completed: ["ok", "c-ok", "Completed"],
  failed: ["error", "c-error", "Failed"],
  stopped: ["stopped", "c-stopped", "Stopped"],
  interrupted: ["stopped", "c-stopped", "Interrupted"],
  unfinished: ["warn", "c-warn", "Cut off"],
} as const;

/** How the last turn went, below the steps. */
export function Ending({ run }: { run: RunModel }): JSX.Element {
  const { outcome } = run;
  const [icon, colour, word] = endings[outcome.state];
  const isPlain = outcome.state === "completed" || outcome.state === "unfinished";
  return (
    <div class="fin">
      <Icon name={icon} class={colour} />
      <span>
        <b>{word}</b>
        {isPlain ? "." : <>: {plain(outcome.what.replace(/\.$/, ""))}.</>} {outcome.cause && plain(outcome.cause)}
      </span>
    </div>
  );
}
