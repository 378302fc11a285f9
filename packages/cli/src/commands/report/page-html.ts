import { createHash } from "node:crypto";

export type PageAssets = { readonly script: string; readonly style: string };
/** What a page shows, as JSON by the name under which its script looks for it. */
export type PageData = Readonly<Record<string, string>>;

/** It may load nothing, and run only the script it was made with: the browser sees to that. `more`: what else it may or may not do. */
export function policyOf({ script, style }: PageAssets, more: readonly string[] = []): string {
  return [
    ...["default-src 'none'", `script-src ${hashOf(script)}`, `style-src ${hashOf(style)}`],
    ...["img-src data: blob:", "base-uri 'none'", "form-action 'none'", ...more],
  ].join("; ");
}

/** One file with everything in it. */
export function toPage(title: string, assets: PageAssets, data: PageData, policy: string = policyOf(assets)): string {
  const { script, style } = assets;
  return [
    "<!doctype html>",
    '<html lang="en">',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="robots" content="noindex">',
    `<title>${escapeHtml(title.slice(0, 200))}</title>`,
    `<style>${style}</style>`,
    '<div id="page"></div>',
    "<noscript>This page needs its own script to show anything. It loads nothing from elsewhere.</noscript>",
    ...Object.entries(data).map(([id, json]) => `<script type="application/json" id="${id}">${toData(json)}</script>`),
    `<script>${script}</script>`,
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
