import { createHash } from "node:crypto";
import { reportScript, reportStyle } from "@outrider/web/assets";
import type { RunModel } from "@outrider/web";

/** A larger trajectory is not put into the page a second time; `outrider trajectory export` writes it. */
const maxTrajectoryChars = 8_000_000;

/** One file with everything in it. It may load nothing, and run only the script it was made with: the browser sees to that. */
export function toReportHtml(run: RunModel, { trajectory }: { readonly trajectory?: string | undefined } = {}): string {
  const policy = [
    ...["default-src 'none'", `script-src ${hashOf(reportScript)}`, `style-src ${hashOf(reportStyle)}`],
    ...["img-src data: blob:", "base-uri 'none'", "form-action 'none'"],
  ].join("; ");
  const title = `${run.outcome.state[0]?.toUpperCase()}${run.outcome.state.slice(1)}: ${run.title ?? (run.task || run.id)} · Outrider report`;
  return [
    "<!doctype html>",
    '<html lang="en">',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="robots" content="noindex">',
    `<title>${escapeHtml(title.slice(0, 200))}</title>`,
    `<style>${reportStyle}</style>`,
    '<div id="page"></div>',
    "<noscript>This page needs its own script to show the run. It loads nothing from elsewhere.</noscript>",
    `<script type="application/json" id="run">${toData(JSON.stringify(run))}</script>`,
    ...(trajectory !== undefined && trajectory.length <= maxTrajectoryChars
      ? [`<script type="application/json" id="trajectory">${toData(trajectory)}</script>`]
      : []),
    `<script>${reportScript}</script>`,
    "</html>\n",
  ].join("\n");
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** JSON that no reader of HTML can take for the end of its element, or for a comment. */
function toData(json: string): string {
  return json.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
