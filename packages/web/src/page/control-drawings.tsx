import type { JSX } from "preact";

function line(...paths: readonly string[]): JSX.Element {
  return (
    <g fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round">
      {paths.map((d) => (
        <path d={d} />
      ))}
    </g>
  );
}

/** What the live page has buttons for. */
export const controlDrawings = {
  todo: (
    <g fill="none" stroke="currentColor" stroke-width="1.5">
      <circle cx="8" cy="8" r="6.2" />
    </g>
  ),
  stop: <rect x="4" y="4" width="8" height="8" rx="1" fill="currentColor" />,
  down: line("M4 6l4 4 4-4"),
  up: line("M4 10l4-4 4 4"),
  plus: line("M8 3v10M3 8h10"),
  send: line("M8 13.5V3M3.8 7.2L8 3l4.2 4.2"),
  bell: line("M8 2a4 4 0 0 0-4 4v2.6L2.8 11h10.4L12 8.6V6a4 4 0 0 0-4-4zM6.6 13.2a1.5 1.5 0 0 0 2.8 0"),
  link: line(
    "M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.3-2.3a2.6 2.6 0 0 0-3.7-3.7l-.8.8M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.2 9.1a2.6 2.6 0 0 0 3.7 3.7l.8-.8",
  ),
  back: line("M10 3.5L5.5 8l4.5 4.5"),
  offline: line(
    "M2 6.5a9 9 0 0 1 3.3-2M14 6.5a9 9 0 0 0-5.500-2.4M4.5 9.3a5 5 0 0 1 2-1.1M11.5 9.3a5 5 0 0 0-1-.7M8 12v.1M2.5 2l11 12",
  ),
  undo: line("M3 6.5h6.5a3.500 3.500 0 0 1 0 7H6M5.800 3.500l-3 3 3 3"),
  out: line("M9.500 2.500h-6v11h6M6.500 8h7.500M11.500 5.500L14 8l-2.500 2.500"),
};
