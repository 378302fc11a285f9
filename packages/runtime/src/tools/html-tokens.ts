import { decodeEntities } from "./html-entities.ts";

/** `isEmpty`: an embedded drawing or formula that ends with its own tag (`<svg/>`); other elements do not know that form. */
export type HtmlToken =
  | { type: "text"; text: string }
  | { type: "open"; name: string; isEmpty: boolean; attribute(name: string): string | undefined }
  | { type: "close"; name: string };

/** Elements whose content is not markup; of these only a textarea's and a title's is for reading. */
const rawElements = new Set(["script", "style", "textarea", "title", "noscript", "iframe", "noframes", "xmp"]);

/** Cuts a page into tags and text in one pass: no position is looked at a second time, whatever the page holds. */
export function* tokenizeHtml(html: string): Generator<HtmlToken> {
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open === -1) return yield { type: "text", text: html.slice(at) };
    const next = html[open + 1] ?? "";
    if (!/[a-zA-Z/!?]/.test(next)) {
      yield { type: "text", text: html.slice(at, open + 1) };
      at = open + 1;
      continue;
    }
    if (open > at) yield { type: "text", text: html.slice(at, open) };

    const end = next === "!" || next === "?" ? endOfDeclaration(html, open) : endOfTag(html, open + 1);
    if (end === -1) return; // cut off inside a tag, as browsers do with an unfinished one
    at = end;
    const name = /^\/?[a-zA-Z][\w:-]*/.exec(html.slice(open + 1, Math.min(end, open + 64)))?.[0].toLowerCase();
    if (name === undefined) continue;
    if (name.startsWith("/")) {
      yield { type: "close", name: name.slice(1) };
      continue;
    }
    const tag = html.slice(open, end);
    const isEmpty = tag.endsWith("/>") && (name === "svg" || name === "math");
    yield { type: "open", name, isEmpty, attribute: (wanted) => attributeOf(tag, wanted) };
    if (!rawElements.has(name)) continue;

    const closing = new RegExp(`</${name}`, "gi");
    closing.lastIndex = at;
    const close = closing.exec(html)?.index ?? html.length;
    yield { type: "text", text: html.slice(at, close) };
    at = close;
  }
}

function endOfDeclaration(html: string, open: number): number {
  const isComment = html.startsWith("<!--", open);
  const end = html.indexOf(isComment ? "-->" : ">", open + (isComment ? 4 : 2));
  return end === -1 ? -1 : end + (isComment ? 3 : 1);
}

/** The position after the tag's `>`; one inside a quoted value does not count. */
function endOfTag(html: string, start: number): number {
  let quote = "";
  for (let at = start; at < html.length; at++) {
    const character = html[at] ?? "";
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === ">") return at + 1;
    else if ((character === '"' || character === "'") && /[=\s]/.test(html[at - 1] ?? "")) quote = character;
  }
  return -1;
}

function attributeOf(tag: string, wanted: string): string | undefined {
  const pattern = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;
  pattern.lastIndex = 1;
  for (let match = pattern.exec(tag); match; match = pattern.exec(tag)) {
    if (match[1]?.toLowerCase() === wanted && match.index > 1) return decodeEntities(match[2] ?? match[3] ?? match[4] ?? "");
  }
  return undefined;
}
