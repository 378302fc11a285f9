import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createToolBench, type ToolBench } from "../../../../../test/support/tool-bench.ts";
import { applyPatchTool } from "../builtin/apply-patch.ts";
import { builtinsOffered } from "../builtin/offered-builtins.ts";
import { applyHunks } from "./apply-hunks.ts";
import { parsePatch } from "./parse-patch.ts";

/** The text after an update with these lines; the reason where it does not fit. */
function updated(text: string, lines: readonly string[]): string {
  const parsed = parsePatch(["*** Begin Patch", "*** Update File: a", ...lines, "*** End Patch"].join("\n"));
  if (parsed.type === "problem") return parsed.problem;
  const [file] = parsed.files;
  if (file?.type !== "update") return "no update";
  const applied = applyHunks(text, file.hunks);
  switch (applied.type) {
    case "applied":
      return applied.text;
    case "misfit":
      return `hunk ${applied.hunk}: no ${applied.missing}`;
    case "ambiguous":
      return `hunk ${applied.hunk}: lines ${applied.lines.join(" and ")}`;
    case "uneven":
      return `hunk ${applied.hunk}: uneven at line ${applied.line}`;
  }
}

const tabs = "def a():\n\tif x:\n\t\treturn 1\n\ndef b():\n\tif x:\n\t\treturn 1\n";
const braces = "void a()\n{\n\tx;\n}\n\nvoid b()\n{\n\tx;\n}\n";

describe("the hunks of a patch", () => {
  const cases: readonly (readonly [fact: string, text: string, lines: readonly string[], after: string])[] = [
    ["replace lines", "a\nb\nc\n", [" a", "-b", "+B", " c"], "a\nB\nc\n"],
    ["need no @@ in front", "a\nb\n", ["-a", "+A"], "A\nb\n"],
    ["are told apart by anchors", "f\n x\ng\n x\n", ["@@ g", "- x", "+ y"], "f\n x\ng\n y\n"],
    [
      "take anchors below each other",
      "c1\n f\n  x\nc2\n f\n  x\n",
      ["@@ c2", "@@ f", "-  x", "+  y"],
      "c1\n f\n  x\nc2\n f\n  y\n",
    ],
    ["may be several, from the top down", "a\nb\na\nb\n", ["@@", "-a", "+1", "@@", "-a", "+2"], "1\nb\n2\nb\n"],
    ["may stand in another order where that is clear", "a\nb\nc\n", ["@@", "-c", "+C", "@@", "-a", "+A"], "A\nb\nC\n"],
    ["pass over numbers of a unified diff", "a\nb\n", ["@@ -1,2 +1,2 @@", " a", "-b", "+B"], "a\nB\n"],
    ["fit where white space at the end differs", "a  \nb\n", [" a", "-b", "+B"], "a  \nB\n"],
    [
      "fit where the indentation differs, and get that of the file",
      tabs,
      ["@@ def b():", "     if x:", "-        return 1", "+        y = 2", "+        return y"],
      "def a():\n\tif x:\n\t\treturn 1\n\ndef b():\n\tif x:\n\t\ty = 2\n\t\treturn y\n",
    ],
    [
      "get as much indentation as they lack",
      "f\n    if x:\n        b\n",
      [" if x:", "-    b", "+    c", "+      d"],
      "f\n    if x:\n        c\n          d\n",
    ],
    [
      "do not fit where the indentation differs from line to line",
      "\tif x:\n\t\tb\n",
      [" if x:", "-b", "+c"],
      "hunk 1: uneven at line 1",
    ],
    ["remove where nothing is to be indented", "\tif x:\n\t\tb\n", [" if x:", "-b"], "\tif x:\n"],
    [
      "keep each line that stays as the file has it",
      'p("x")\na\np(\u201cx\u201d)\nb\nc\n',
      ["-a", "+A", ' p("x")', "-b", "+B", " c "],
      'p("x")\nA\np(\u201cx\u201d)\nB\nc\n',
    ],
    [
      "are refused where white space differs and two places fit",
      tabs,
      ["@@", "     if x:", "-        return 1", "+        y = 2"],
      "hunk 1: lines 2 and 6",
    ],
    ["are refused where two places fit exactly", tabs, ["@@", "-\t\treturn 1", "+\t\treturn 2"], "hunk 1: lines 3 and 7"],
    ["take the place that fits exactly before one that nearly does", "  x\nx\n", ["-x", "+y"], "  x\ny\n"],
    ["mean what belongs to the anchor", tabs, ["@@ def a():", "-\t\treturn 1", "+\t\treturn 2"], tabs.replace("1", "2")],
    ["mean what belongs to the anchor between brackets", braces, ["@@ void a()", "-\tx;", "+\ty;"], braces.replace("x", "y")],
    [
      "are refused where two places belong to the anchor",
      "c\n f\n  x\n g\n  x\n",
      ["@@ c", "-  x", "+  y"],
      "hunk 1: lines 3 and 5",
    ],
    [
      "are refused where two places have the anchor",
      "c\n f\n  x\nd\n f\n  x\n",
      ["@@ f", "-  x", "+  y"],
      "hunk 1: lines 3 and 6",
    ],
    ["do not add behind an anchor that is there twice", "f\na\nf\n", ["@@ f", "+x"], "hunk 1: lines 1 and 3"],
    [
      "go back to an anchor above",
      "f\n x\ng\n x\nh\n x\n",
      ["@@ g", "- x", "+ y", "@@ f", "- x", "+ z"],
      "f\n z\ng\n y\nh\n x\n",
    ],
    ["are told apart by the hunk before", "x\nm\nx\n", ["@@", "-m", "+M", "@@", "-x", "+y"], "x\nM\ny\n"],
    [
      "are refused where two places fit below the hunk before",
      "m\nx\nx\n",
      ["@@", "-m", "+M", "@@", "-x", "+y"],
      "hunk 2: lines 2 and 3",
    ],
    [
      "are refused where there are more places than hunks alike",
      "a\na\na\n",
      ["@@", "-a", "+1", "@@", "-a", "+2"],
      "hunk 1: lines 1 and 2 and 3",
    ],
    ["fit where quotation marks differ", "say(\u201chi\u201d)\nb\n", [' say("hi")', "-b", "+B"], "say(\u201chi\u201d)\nB\n"],
    ["keep line endings of Windows", "a\r\nb\r\n", [" a", "-b", "+B", "+C"], "a\r\nB\r\nC\r\n"],
    ["keep a file that ends without a newline so", "a\nb\nc", ["-a", "+A"], "A\nb\nc"],
    ["add at the end without lines that stay", "a\n", ["+b"], "a\nb\n"],
    ["add behind an anchor", "a\nb\n", ["@@ a", "+x"], "a\nx\nb\n"],
    ["are at the end where they say so", "x\ny\nx\n", ["@@", "-x", "+z", "*** End of File"], "x\ny\nz\n"],
    ["take an empty line without its space as one that stays", "a\n\nb\n", [" a", "", "-b", "+B"], "a\n\nB\n"],
    ["only remove", "a\nb\nc\n", ["-b"], "a\nc\n"],
    ["fill an empty file", "", ["+a"], "a\n"],
    ["do not fit other lines", "a\n", ["-b", "+c"], "hunk 1: no lines"],
    ["do not fit behind an anchor that is not there", "a\n", ["@@ nowhere", "-a", "+c"], "hunk 1: no anchor"],
  ];
  for (const [fact, text, lines, after] of cases)
    it(fact, () => {
      assert.equal(updated(text, lines), after);
    });
});

describe("two places alike", () => {
  const blocks = [["x"], ["if x:", "    return 1"], ["{", "  a", "", "  b", "}"], ["say(\u201chi\u201d)", "\tend"]];
  const shapes: readonly ((line: string) => string)[] = [
    (line) => line,
    (line) => `${line}  `,
    (line) => `\t${line}`,
    (line) => line.replaceAll(/[\u201c\u201d]/g, '"'),
  ];
  const between = [[], ["other"], ["", "def b():", ""]];
  for (const block of blocks)
    it(`are never changed without an anchor: ${JSON.stringify(block)}`, () => {
      for (const first of shapes)
        for (const second of shapes)
          for (const sent of shapes)
            for (const gap of between) {
              const text = ["top", ...block.map(first), ...gap, ...block.map(second), "end", ""].join("\n");
              const alike =
                first === second ||
                ![first, second].some((shape) => block.every((line) => shape(line).trimEnd() === sent(line).trimEnd()));
              if (!alike) continue; // one of them is what was sent
              const after = updated(text, ["@@", ...block.map((line) => `-${sent(line)}`), "+new"]);
              assert.equal(
                after,
                `hunk 1: lines 2 and ${2 + block.length + gap.length}`,
                JSON.stringify([text, sent(block[0] ?? "")]),
              );
            }
    });
});

describe("a patch", () => {
  const file = ["*** Add File: a.txt", "+one"];
  const read: readonly (readonly [fact: string, text: string])[] = [
    ["with all its marks", ["*** Begin Patch", ...file, "*** End Patch"].join("\n")],
    ["without its marks", file.join("\n")],
    ["whose fence is its end", ["```", "*** Begin Patch", ...file, "```"].join("\n")],
    ["without its beginning", [...file, "*** End Patch"].join("\n")],
    [
      "in the shell command that would apply it",
      ["apply_patch <<'EOF'", "*** Begin Patch", ...file, "*** End Patch", "EOF"].join("\n"),
    ],
    ["in a fence", ["```", ...file, "```"].join("\n")],
    ["with line endings of Windows", ["*** Begin Patch", ...file, "*** End Patch", ""].join("\r\n")],
    ["with indented marks", ["  *** Begin Patch", ...file, "  *** End Patch"].join("\n")],
  ];
  for (const [fact, text] of read)
    it(`is understood ${fact}`, () => {
      assert.deepEqual(parsePatch(text), { type: "patch", files: [{ type: "add", path: "a.txt", lines: ["one"] }] });
    });

  for (const [text, problem] of [
    ["", /names no file/],
    ["*** Begin Patch\n*** Update File: a\n-one\n-two\n+on", /may have been cut off/],
    ["*** Begin Patch\nhello\n*** End Patch", /belongs to no file/],
    ["*** Begin Patch\n*** Update File: a\n*** End Patch", /no lines that change anything/],
    ["*** Begin Patch\n*** Update File: a\nhello\n*** End Patch", /begins with none of/],
    ["*** Begin Patch\n*** Add File: a\n+x\nhello\n*** End Patch", /every line begins with "\+"/],
    ["*** Begin Patch\n*** Update File:\n-a\n*** End Patch", /has no path/],
  ] as const)
    it(`that is none is answered with what to send: ${JSON.stringify(text)}`, () => {
      const parsed = parsePatch(text);
      assert.match(parsed.type === "problem" ? parsed.problem : "", problem);
    });
});

describe("apply_patch", () => {
  let bench: ToolBench;
  before(() => {
    bench = createToolBench();
  });
  after(() => bench.close());
  const at = (name: string): string => join(bench.root, name);
  const text = (name: string): string => readFileSync(at(name), "utf8");

  it("adds, updates, moves and deletes files in one call, and shows the changed lines", async () => {
    bench.write("src/a.ts", "one\ntwo\nthree\n");
    bench.write("src/old.ts", "x\n");
    bench.write("gone.txt", "bye\n");
    const input = [
      ...[
        "*** Begin Patch",
        "*** Update File: src/a.ts",
        " one",
        "-two",
        "+2",
        "+2b",
        " three",
        "*** Add File: new/b.json",
        "+{}",
      ],
      ...["*** Update File: src/old.ts", "*** Move to: src/new.ts", "-x", "+y", "*** Delete File: gone.txt", "*** End Patch"],
    ].join("\n");
    const { resources } = await applyPatchTool.access({ input }, bench.workspace);
    assert.deepEqual(resources, ["src/a.ts", "new/b.json", "src/old.ts", "src/new.ts", "gone.txt"].map(at));
    const { content, details } = await bench.call(applyPatchTool, { input });
    assert.deepEqual(content, [
      {
        type: "text",
        text: [
          ...["Done. Changed files:", "M src/a.ts", "A new/b.json", "D src/old.ts", "A src/new.ts", "D gone.txt"],
          ...["src/a.ts now:", "     1\tone", "     2\t2", "     3\t2b", "     4\tthree"],
        ].join("\n"),
      },
    ]);
    assert.deepEqual([text("src/a.ts"), text("new/b.json"), text("src/new.ts")], ["one\n2\n2b\nthree\n", "{}\n", "y\n"]);
    assert.deepEqual(
      ["src/old.ts", "gone.txt"].map((name) => existsSync(at(name))),
      [false, false],
    );
    assert.deepEqual(
      [details?.file, ...(details?.others ?? []).map(({ file, created, removed }) => [file, created ?? false, removed ?? false])],
      [
        at("src/a.ts"),
        [at("new/b.json"), true, false],
        [at("src/old.ts"), false, true],
        [at("src/new.ts"), true, false],
        [at("gone.txt"), false, true],
      ],
    );
  });

  it("changes nothing where one part does not fit, and says what the file has", async () => {
    bench.write("b.txt", "alpha\nbeta\n");
    const said = await bench.say(applyPatchTool, {
      input: "*** Begin Patch\n*** Update File: b.txt\n-alpha\n+A\n*** Update File: b.txt\n beta\n-gamma\n+G\n*** End Patch",
    });
    assert.match(said, /Nothing was changed: the lines of hunk 1 cannot be found in b\.txt\. .*Line 2 matches its beginning/s);
    assert.equal(text("b.txt"), "alpha\nbeta\n");
  });

  for (const [fact, lines, said] of [
    [
      "refuses what fits twice",
      ["@@", "-\t\treturn 1", "+\t\treturn 2"],
      /^Nothing was changed: hunk 1 fits t\.py in 2 places \(lines 3, 7\)\. Add lines that stay .* @@ def b\(\):$/,
    ],
    [
      "refuses what fits twice but for white space",
      ["@@", "     if x:", "-        return 1", "+        y"],
      /hunk 1 fits t\.py in 2 places \(lines 2, 6\)/,
    ],
    [
      "shows what it cannot indent",
      ["@@ def b():", " if x:", "-return 1", "+y"],
      /^Nothing was changed: hunk 1 fits line 6 .* Send its lines as the file has them\./,
    ],
  ] as const)
    it(fact, async () => {
      bench.write("t.py", tabs);
      assert.match(
        await bench.say(applyPatchTool, {
          input: ["*** Begin Patch", "*** Update File: t.py", ...lines, "*** End Patch"].join("\n"),
        }),
        said,
      );
      assert.equal(text("t.py"), tabs);
    });

  it("builds on what an earlier part of the same patch made", async () => {
    bench.write("c.txt", "1\n2\n");
    await bench.call(applyPatchTool, {
      input: "*** Begin Patch\n*** Update File: c.txt\n-1\n+one\n*** Update File: c.txt\n one\n-2\n+two\n*** End Patch",
    });
    assert.equal(text("c.txt"), "one\ntwo\n");
  });

  for (const [fact, lines, said] of [
    ["makes no file anew that is there", ["*** Add File: d.txt", "+x"], /d\.txt exists, and Add File makes new files/],
    [
      "moves over no file",
      ["*** Update File: d.txt", "*** Move to: e.txt", "-d", "+x"],
      /e\.txt, where d\.txt should move to, exists/,
    ],
    ["names the nearest file", ["*** Update File: dd.txt", "-d", "+x"], /dd\.txt does not exist\. Did you mean d\.txt/],
    ["says what a patch is", ["*** Update File: d.txt", "d"], /Nothing was changed\. .*begins with none of/],
  ] as const)
    it(fact, async () => {
      bench.write("d.txt", "d\n");
      bench.write("e.txt", "e\n");
      assert.match(await bench.say(applyPatchTool, { input: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") }), said);
      assert.deepEqual([text("d.txt"), text("e.txt")], ["d\n", "e\n"]);
    });
});

describe("the tools for changing text", () => {
  const all = ["Write", "Edit", "apply_patch", "NotebookEdit"];
  for (const [fact, knowsPatches, wanted, taken, offered] of [
    ["are Edit and Write for most models", false, undefined, [], ["Write", "Edit", "NotebookEdit"]],
    ["are apply_patch for models that know it", true, undefined, [], ["apply_patch", "NotebookEdit"]],
    ["are what was named", true, ["Edit"], [], ["Edit"]],
    ["are apply_patch where that was named", false, ["apply_patch"], [], ["apply_patch"]],
    ["are what is left where one was taken away", true, undefined, ["Write"], ["Write", "Edit"]],
    ["are Edit and Write where apply_patch was taken away", true, undefined, ["apply_patch"], ["Write", "Edit", "NotebookEdit"]],
  ] as const)
    it(fact, () => {
      assert.deepEqual(all.filter(builtinsOffered({ knowsPatches, wanted, taken, searches: false })), offered);
    });
});
