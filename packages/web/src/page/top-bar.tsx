import type { ComponentChildren, JSX } from "preact";
import { Icon, Mark } from "./icons.tsx";
import { nextTheme } from "./theme.ts";

type TopBarProps = {
  /** Where in the report one is. */
  readonly crumb: ComponentChildren;
  readonly children?: ComponentChildren;
  /** Stands behind the choice of the theme. */
  readonly last?: ComponentChildren;
};

/** The first line of every page of a report. */
export function TopBar({ crumb, children, last }: TopBarProps): JSX.Element {
  return (
    <header class="top">
      <span class="brand">
        <Mark />
        Outrider
      </span>
      <nav class="crumb" aria-label="Path">
        {crumb}
      </nav>
      <span class="grow" />
      {children}
      <button type="button" class="btn btn-quiet btn-i" aria-label="Change theme" onClick={() => nextTheme()}>
        <Icon name="theme" />
      </button>
      {last}
    </header>
  );
}
