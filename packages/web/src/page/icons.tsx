import type { JSX } from "preact";
import { controlDrawings } from "./control-drawings.tsx";

/** Lines of 1.5 on a field of 16. Icons of states differ by their outline, so that none is told by its colour alone. */
const drawings = {
  ...controlDrawings,
  ok: (
    <>
      <circle cx="8" cy="8" r="6.5" fill="currentColor" />
      <path
        d="M5.2 8.2l2 2 3.6-4.2"
        fill="none"
        stroke="var(--bg)"
        stroke-width="1.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </>
  ),
  error: (
    <>
      <path d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z" fill="currentColor" />
      <path d="M5.8 5.8l4.4 4.4m0-4.4l-4.4 4.4" fill="none" stroke="var(--bg)" stroke-width="1.6" stroke-linecap="round" />
    </>
  ),
  warn: (
    <>
      <path d="M8 1.8l6.6 11.9H1.4z" fill="currentColor" stroke="currentColor" stroke-width="1" stroke-linejoin="round" />
      <path d="M8 6v3.6M8 11.6v.1" fill="none" stroke="var(--bg)" stroke-width="1.6" stroke-linecap="round" />
    </>
  ),
  info: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <circle cx="8" cy="8" r="6.2" />
        <path d="M8 7.4v3.6M8 5v.1" />
      </g>
    </>
  ),
  running: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <circle cx="8" cy="8" r="6" opacity=".28" />
        <path d="M8 2a6 6 0 0 1 6 6" />
      </g>
    </>
  ),
  waiting: (
    <>
      <path d="M8 .9L15.1 8 8 15.1.9 8z" fill="currentColor" />
      <path d="M6.5 5.9v4.2M9.5 5.9v4.2" fill="none" stroke="var(--bg)" stroke-width="1.6" stroke-linecap="round" />
    </>
  ),
  stopped: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <rect x="2.2" y="2.2" width="11.6" height="11.6" rx="1.5" />
        <path d="M5.5 8h5" />
      </g>
    </>
  ),
  denied: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <circle cx="8" cy="8" r="6.2" />
        <path d="M3.7 12.3l8.6-8.6" />
      </g>
    </>
  ),
  queued: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <circle cx="8" cy="8" r="6.2" stroke-dasharray="2.2 2.3" />
      </g>
    </>
  ),
  model: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <path d="M2.5 4h11M2.5 8h11M2.5 12h6.5" />
      </g>
    </>
  ),
  user: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <circle cx="8" cy="5.2" r="2.7" />
        <path d="M2.8 13.8c.6-2.8 2.6-4.2 5.2-4.2s4.6 1.4 5.2 4.2" />
      </g>
    </>
  ),
  bash: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <path d="M3 4.5L6.5 8 3 11.5M8.5 12H13" />
      </g>
    </>
  ),
  read: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <path d="M9.2 1.8H4.4a1 1 0 0 0-1 1v10.4a1 1 0 0 0 1 1h7.2a1 1 0 0 0 1-1V5.2zM9 2v3.4h3.5" />
      </g>
    </>
  ),
  edit: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <path d="M10.6 2.6l2.8 2.8-7.6 7.6-3.4.6.6-3.4zM8.9 4.3l2.8 2.8" />
      </g>
    </>
  ),
  search: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <circle cx="7" cy="7" r="4.4" />
        <path d="M10.3 10.3l3.4 3.4" />
      </g>
    </>
  ),
  web: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <circle cx="8" cy="8" r="6.2" />
        <path d="M1.9 8h12.2M8 1.8c3.6 3.6 3.6 8.8 0 12.4M8 1.8C4.4 5.4 4.4 10.6 8 14.2" />
      </g>
    </>
  ),
  list: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <path d="M2.4 4.200l1.1 1.1 2-2.300M2.4 10.800l1.1 1.1 2-2.300M8.2 4.500h5.500M8.2 11.200h5.5" />
      </g>
    </>
  ),
  plug: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <path d="M5.5 2v3.500M10.5 2v3.500M3.5 5.500h9v2.200a4.5 4.5 0 0 1-9 0zM8 12.200V14.5" />
      </g>
    </>
  ),
  subagent: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <circle cx="3.5" cy="8" r="1.7" />
        <circle cx="12.5" cy="3.7" r="1.7" />
        <circle cx="12.5" cy="12.3" r="1.7" />
        <path d="M5.2 8h1.600c1.9 0 1.7-4.3 4-4.300M6.8 8c1.9 0 1.7 4.3 4 4.3" />
      </g>
    </>
  ),
  permission: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <path d="M8 1.700l5.2 2v4c0 3.3-2.2 5.5-5.2 6.6-3-1.1-5.2-3.3-5.2-6.600v-4z" />
      </g>
    </>
  ),
  retry: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <path d="M13.3 6.500A5.6 5.6 0 1 0 13.6 9M13.7 2.800v3.700H10" />
      </g>
    </>
  ),
  compaction: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <path d="M2.5 8h11M8 1.500v4M5.9 3.600L8 5.600l2.1-2M8 14.500v-4M5.9 12.400L8 10.400l2.1 2" />
      </g>
    </>
  ),
  hook: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <path d="M10.5 2.200v6.600a3.2 3.2 0 0 1-6.4 0V7.400M2.6 9l1.5-1.600L5.7 9" />
        <circle cx="10.5" cy="2.8" r=".8" />
      </g>
    </>
  ),
  image: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <rect x="1.8" y="2.8" width="12.4" height="10.4" rx="1" />
        <circle cx="5.5" cy="6.2" r="1.1" />
        <path d="M2.2 12l3.6-3.3 2.2 2 3-3.2 3 3" />
      </g>
    </>
  ),
  clock: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <circle cx="8" cy="8" r="6.2" />
        <path d="M8 4.500V8l2.4 1.6" />
      </g>
    </>
  ),
  chev: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <path d="M6 4l4 4-4 4" />
      </g>
    </>
  ),
  x: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <path d="M4 4l8 8M12 4l-8 8" />
      </g>
    </>
  ),
  copy: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <rect x="5.5" y="5.5" width="8" height="8" rx="1" />
        <path d="M10.5 5.500v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" />
      </g>
    </>
  ),
  download: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <path d="M8 2v8M4.8 7L8 10.2 11.2 7M2.5 13.500h11" />
      </g>
    </>
  ),
  theme: (
    <>
      <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
        <circle cx="8" cy="8" r="6.2" />
      </g>
      <path d="M8 1.800a6.2 6.2 0 0 1 0 12.400z" fill="currentColor" />
    </>
  ),
};

export type IconName = keyof typeof drawings;

export function Icon({ name, class: extra = "", label }: { name: IconName; class?: string; label?: string }): JSX.Element {
  const named = label === undefined ? { "aria-hidden": "true" as const } : { role: "img" as const, "aria-label": label };
  return (
    <svg class={`i ${extra}`} viewBox="0 0 16 16" {...named}>
      {drawings[name]}
    </svg>
  );
}

export function Mark(): JSX.Element {
  return (
    <svg class="mark" viewBox="0 0 18 16" aria-hidden="true">
      <path
        d="M1.5 3l4.5 5-4.5 5M6.5 3L11 8l-4.5 5"
        fill="none"
        stroke="currentColor"
        stroke-width="1.8"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
      <circle cx="15.3" cy="8" r="1.7" class="mark-dot" />
    </svg>
  );
}

/** The fills that tell kinds apart without colour. Once on a page, before the first chart. */
export function Patterns(): JSX.Element {
  const pattern = { patternUnits: "userSpaceOnUse" as const };
  return (
    <svg class="sprite" aria-hidden="true">
      <defs>
        <pattern id="p-permission" width="5" height="5" patternTransform="rotate(45)" {...pattern}>
          <rect width="5" height="5" class="pf-permission-bg" />
          <rect width="2.5" height="5" class="pf-permission" />
        </pattern>
        <pattern id="p-retry" width="4" height="4" {...pattern}>
          <rect width="4" height="4" class="pf-retry-bg" />
          <circle cx="2" cy="2" r="1.1" class="pf-retry" />
        </pattern>
        <pattern id="p-subagent" width="4" height="4" {...pattern}>
          <rect width="4" height="4" class="pf-subagent-bg" />
          <rect width="4" height="2" class="pf-subagent" />
        </pattern>
        <pattern id="p-out" width="4" height="4" patternTransform="rotate(-45)" {...pattern}>
          <rect width="4" height="4" class="pf-out-bg" />
          <rect width="2.6" height="4" class="pf-out" />
        </pattern>
      </defs>
    </svg>
  );
}

export function Swatch({ kind }: { kind: string }): JSX.Element {
  if (kind === "compaction") return <Icon name="compaction" class="i-s" />;
  return (
    <svg viewBox="0 0 14 10" aria-hidden="true">
      <rect x=".5" y=".5" width="13" height="9" rx="1" class={`f-${kind}`} />
      {kind === "error" && <path d="M4.5 2.5l5 5m0-5l-5 5" stroke="var(--bg)" stroke-width="1.5" />}
    </svg>
  );
}
