import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createToolBench, type ToolBench } from "../../../../../test/support/tool-bench.ts";
import { notebookEditTool } from "./notebook-edit.ts";
import { readTool } from "./read.ts";

const notebook = {
  cells: [
    { cell_type: "markdown", id: "intro", metadata: {}, source: ["# Title\n", "Words"] },
    {
      cell_type: "code",
      id: "sum",
      execution_count: 3,
      metadata: { tags: ["kept"] },
      outputs: [
        { output_type: "stream", name: "stdout", text: ["\u001b[31m42\u001b[0m\n"] },
        { output_type: "display_data", data: { "image/png": "iVBORw0KGgo=" }, metadata: {} },
      ],
      source: "print(6 * 7)",
    },
    {
      cell_type: "code",
      id: "bad",
      execution_count: 4,
      metadata: {},
      outputs: [{ output_type: "error", ename: "E", evalue: "no", traceback: [] }],
      source: [],
    },
  ],
  metadata: { language_info: { name: "python" }, own: 1 },
  nbformat: 4,
  nbformat_minor: 5,
};

describe("a notebook", () => {
  let bench: ToolBench;
  before(() => {
    bench = createToolBench();
  });
  after(() => bench.close());

  const fresh = async (): Promise<string> => {
    bench.write("a.ipynb", `${JSON.stringify(notebook, null, 1)}\n`);
    await bench.call(readTool, { file_path: "a.ipynb" });
    return join(bench.root, "a.ipynb");
  };
  const cells = (path: string): typeof notebook.cells => JSON.parse(readFileSync(path, "utf8")).cells;

  it("is read cell by cell, with what the cells printed and drew", async () => {
    bench.write("a.ipynb", JSON.stringify(notebook));
    const { content } = await bench.call(readTool, { file_path: "a.ipynb" });
    assert.deepEqual(content, [
      {
        type: "text",
        text: [
          "a.ipynb: a notebook of 3 cells (python).",
          '<cell id="intro" type="markdown">\n# Title\nWords\n</cell>',
          '<cell id="sum" type="code">\nprint(6 * 7)\n</cell>',
          '<output of="sum">\n42\n</output>',
        ].join("\n"),
      },
      { type: "image", mediaType: "image/png", data: "iVBORw0KGgo=" },
      { type: "text", text: '<cell id="bad" type="code">\n\n</cell>\n<output of="bad">\nE: no\n</output>' },
    ]);
    const second = await bench.say(readTool, { file_path: "a.ipynb", offset: 2, limit: 1 });
    assert.match(
      second,
      /^a\.ipynb: a notebook of 3 cells[\s\S]*id="sum"[\s\S]*Cells 2 to 2 of 3 are shown\. Go on with offset 3/,
    );
  });

  it("is shown as text where it only has the name of one", async () => {
    bench.write("b.ipynb", "words\n");
    assert.match(await bench.say(readTool, { file_path: "b.ipynb" }), /1\twords/);
  });

  it("has the source of one cell replaced, and keeps everything else", async () => {
    const path = await fresh();
    await bench.call(notebookEditTool, { notebook_path: path, cell_id: "sum", new_source: "a = 1\nb = 2" });
    const text = readFileSync(path, "utf8");
    assert.deepEqual(JSON.parse(text), {
      ...notebook,
      cells: notebook.cells.with(1, {
        cell_type: "code",
        id: "sum",
        execution_count: null as never,
        metadata: { tags: ["kept"] },
        outputs: [],
        source: ["a = 1\n", "b = 2"] as never,
      }),
    });
    assert.match(text, /^\{\n "cells"[\s\S]*\n$/);
  });

  it("gets and loses cells", async () => {
    const path = await fresh();
    const said = await bench.say(notebookEditTool, {
      ...{ notebook_path: path, cell_id: "intro", new_source: "x", cell_type: "code", edit_mode: "insert" },
    });
    assert.match(said, /Inserted a code cell at place 2 of a\.ipynb; its id is new-4\./);
    await bench.call(notebookEditTool, { notebook_path: path, cell_id: "bad", new_source: "", edit_mode: "delete" });
    assert.deepEqual(
      cells(path).map(({ id }) => id),
      ["intro", "new-4", "sum"],
    );
  });

  it("gets a cell of code where no type is named", async () => {
    const said = await bench.say(notebookEditTool, { notebook_path: await fresh(), new_source: "x", edit_mode: "insert" });
    assert.match(said, /Inserted a code cell at place 1 of a\.ipynb/);
  });

  for (const [fact, input, words] of [
    [
      "a cell that is not there",
      { cell_id: "smu", new_source: "x" },
      /has no cell "smu"; did you mean sum\? The cells are: intro, sum, bad\./,
    ],
    ["no cell to replace", { new_source: "x" }, /replace needs cell_id\. The cells are/],
  ] as const)
    it(`answers ${fact} with what to send`, async () => {
      const path = await fresh();
      assert.match(await bench.say(notebookEditTool, { notebook_path: path, ...input }), words);
    });

  it("must have been read", async () => {
    bench.write("unread.ipynb", JSON.stringify(notebook));
    const said = await bench.say(notebookEditTool, { notebook_path: "unread.ipynb", cell_id: "sum", new_source: "x" });
    assert.match(said, /has not been read/);
  });
});
