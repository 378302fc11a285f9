import { marked, type Token, type Tokens } from "marked";
import type { ComponentChildren, JSX } from "preact";
import { highlighted } from "./code.tsx";
import { plain } from "./text.tsx";

/** Only these lead somewhere; whatever else a text calls a link is shown as the words it is. */
const safeLink = /^(?:https?:|mailto:|#)/i;
const maxChars = 200_000;

/**
 * Markdown as elements. Its tokens become nodes one by one: no string is ever taken for HTML, so that nothing a model or a file says can run.
 */
export function Markdown({ text }: { text: string }): JSX.Element {
  if (text.length > maxChars) return <p class="prose-long">{plain(text)}</p>;
  return <>{blocks(marked.lexer(text, { gfm: true, breaks: true }))}</>;
}

function blocks(tokens: readonly Token[]): ComponentChildren {
  return tokens.map(block);
}

function block(token: Token): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return (
        <p>
          <b>{inline(token.tokens)}</b>
        </p>
      );
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "code":
      return (
        <pre tabIndex={0} role="group" aria-label="Code">
          <code>{highlighted(token.text, token.lang?.split(/\s/)[0] ?? "")}</code>
        </pre>
      );
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [])}</blockquote>;
    case "list":
      return list(token as Tokens.List);
    case "table":
      return table(token as Tokens.Table);
    case "hr":
      return <hr />;
    case "text":
      return token.tokens ? <p>{inline(token.tokens)}</p> : <p>{plain(token.text)}</p>;
    default:
      return <p>{plain(token.raw)}</p>;
  }
}

function list({ ordered, start, items }: Tokens.List): JSX.Element {
  const rows = items.map((item) => (
    <li>
      {item.task && (
        <input type="checkbox" checked={item.checked === true} disabled aria-label={item.checked ? "Done" : "Open"} />
      )}
      {item.tokens.map((token) => (token.type === "text" ? inline(token.tokens ?? [token]) : block(token)))}
    </li>
  ));
  return ordered ? <ol start={start === "" ? 1 : start}>{rows}</ol> : <ul>{rows}</ul>;
}

function table({ header, rows, align }: Tokens.Table): JSX.Element {
  const look = (column: number): string | undefined => (align[column] === "right" ? "num" : undefined);
  return (
    <div class="tablewrap" tabIndex={0} role="group" aria-label="Table">
      <table class="table">
        <thead>
          <tr>
            {header.map((cell, at) => (
              <th class={look(at)}>{inline(cell.tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {row.map((cell, at) => (
                <td class={look(at)}>{inline(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inline(tokens: readonly Token[] | undefined): ComponentChildren {
  return (tokens ?? []).map((token) => {
    switch (token.type) {
      case "strong":
        return <strong>{inline(token.tokens)}</strong>;
      case "em":
        return <em>{inline(token.tokens)}</em>;
      case "del":
        return <del>{inline(token.tokens)}</del>;
      case "codespan":
        return <code>{plain(token.text)}</code>;
      case "br":
        return <br />;
      case "link":
        return link(token.href, inline(token.tokens));
      case "image":
        return link(token.href, `[picture: ${token.text || token.href}]`);
      case "escape":
        return plain(token.text);
      case "text":
        return token.tokens ? inline(token.tokens) : plain(token.text);
      default:
        return plain(token.raw);
    }
  });
}

function link(href: string, children: ComponentChildren): ComponentChildren {
  if (!safeLink.test(href)) return children;
  return (
    <a href={href} target={href.startsWith("#") ? undefined : "_blank"} rel="noopener noreferrer nofollow" title={href}>
      {children}
    </a>
  );
}
