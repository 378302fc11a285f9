import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { htmlToText } from "./html-text.ts";

const base = new URL("https://example.com/docs/page.html");
const text = (html: string): string => htmlToText(html, base);

describe("htmlToText", () => {
  it("keeps what a reader sees and drops the rest", () => {
    const page = `<!doctype html><html><head><title>A &amp; B</title><style>p{}</style><script>if (a < b) "</p>"</script></head>
      <body><!-- <p>not this</p> --><h1>Heading  one</h1><p>First <b>bold</b>
      text.<br>Second line.</p><script>var x = "<p>nor this</p>"</script><noscript>no</noscript><svg/>
      <div>One</div><div>Two</div><p>1 &lt; 2 &hellip; &#x1F600; &#8364; &eacute; &unknown; AT&T</p></body></html>`;
    assert.equal(
      text(page),
      "Title: A & B\n\n# Heading one\n\nFirst bold text.\nSecond line.\n\nOne\nTwo\n\n1 < 2 … 😀 € é &unknown; AT&T",
    );
  });

  it("shows links with their whole address, and none for places in the page or scripts", () => {
    assert.equal(
      text(
        `<p>See <a href="../x?a=1&amp;b=2">the <i>x</i> page</a>, <a href="#top">top</a>, <a href="javascript:void(0)">no</a>.<a href="/y"></a>`,
      ),
      "See the x page (https://example.com/x?a=1&b=2), top, no.",
    );
  });

  it("reads values in both quotes and in none, and attributes without one", () => {
    const link = (attributes: string): string => text(`<p><a ${attributes}>x</a>`);
    for (const attributes of ['href="/y"', "href='/y'", "href=/y", 'hidden title="a" HREF = "/y"', "download href=/y"])
      assert.equal(link(attributes), "x (https://example.com/y)", attributes);
    for (const attributes of ["", "title=href", "data-href=/y"]) assert.equal(link(attributes), "x", attributes);
  });

  it("shows no characters that are none", () => {
    assert.equal(
      text("&#0;&#xd800;&#xdfff;&#x110000;&#1114111;&#xd7ff;&#xe000;&#65;&#x42"),
      "\ufffd\ufffd\ufffd\ufffd\u{10ffff}\ud7ff\ue000AB",
    );
  });

  it("shows lists, nested and numbered", () => {
    assert.equal(
      text("<ul><li>one</li><li>two<ol><li>first<li>second</ol></li></ul><p>end"),
      "- one\n- two\n  1. first\n  2. second\n\nend",
    );
  });

  it("keeps the layout of preformatted code and marks inline code", () => {
    assert.equal(
      text("<p>Use <code>a  b</code>:</p><pre><code>if (x) {\n    y();\n\n}</code></pre><p>done</p>"),
      "Use `a b`:\n\n```\nif (x) {\n    y();\n\n}\n```\n\ndone",
    );
  });

  it("shows tables row by row, images by their words and quotes", () => {
    assert.equal(
      text(
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><img alt='a cat'><img src=x><blockquote>said</blockquote><hr>",
      ),
      "a | b\n1 | 2\n\n[image: a cat]\n\n> said\n\n---",
    );
  });

  it("is not misled by > in quotes, stray < and unfinished tags", () => {
    assert.equal(
      text(`<a title="x > y" href='https://e.org/?q="'>go</a> if a < b <3 <p`),
      "go (https://e.org/?q=%22) if a < b <3",
    );
    assert.equal(text("plain <!-- never closed"), "plain");
  });

  it("takes linear time on hostile pages", () => {
    const started = Date.now();
    for (const part of [
      "<",
      "<a ",
      '<a "',
      "<a href='",
      "<!--",
      "</",
      "<div>",
      "<ul><li>",
      "<pre> ",
      "&",
      "&#",
      "<b x=y z",
      " \n",
      "<script>",
      "<head>",
      "<a>",
    ]) {
      text(part.repeat(80_000));
      text(`<pre>${part.repeat(80_000)}x</pre>`);
    }
    text(`<pre>${" ".repeat(500_000)}x</pre>`);
    assert.ok(Date.now() - started < 20_000, `${Date.now() - started} ms`);
  });
});
