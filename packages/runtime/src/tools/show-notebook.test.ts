import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { showNotebook } from "./show-notebook.ts";

const cell = (id: string, source: string, printed = ""): object => ({
  ...{ id, cell_type: "code", source, metadata: {}, execution_count: 1 },
  outputs: printed === "" ? [] : [{ output_type: "stream", name: "stdout", text: printed }],
});
const notebook = (...cells: object[]): string => JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells });
const texts = (text: string): string =>
  (showNotebook(text, { name: "a.ipynb", from: 1, count: 100 })?.content ?? [])
    .map((part) => (part.type === "text" ? part.text : part.type))
    .join("\n");

describe("a notebook that is shown", () => {
  it("has the beginning of what a cell printed, and says how much more there is", () => {
    assert.match(texts(notebook(cell("a", "1", "x".repeat(2_000)))), /\nx{2000}\n<\/output>/);
    assert.match(texts(notebook(cell("a", "1", "x".repeat(2_007)))), /\nx{2000}\n… \(7 characters more\)\n<\/output>/);
  });

  it("has its first cell, however long that is, and ends before one that is too much", () => {
    const long = "x".repeat(30_000);
    assert.match(
      texts(notebook(cell("a", long), cell("b", "2"))),
      /x{30000}[\s\S]*\[Cells 1 to 1 of 2 are shown\. Go on with offset 2\.\]$/,
    );
    assert.match(texts(notebook(cell("a", "1"), cell("b", long))), /\[Cells 1 to 1 of 2 are shown\./);
  });

  it("tells programs what each cell printed, and how often it was run", () => {
    const drawn = { output_type: "display_data", data: { "image/png": "iVBORw0" } };
    const printed = { output_type: "stream", name: "stdout", text: ["1\n"] };
    const code = { cell_type: "code", id: "a", source: ["print(1)"], execution_count: 3, outputs: [printed, drawn] };
    const words = { cell_type: "markdown", id: "b", source: "# Title" };
    assert.deepEqual(showNotebook(notebook(code, words), { name: "n.ipynb", from: 1, count: 10 })?.cells, [
      {
        ...{ cellType: "code", source: "print(1)", cell_id: "a", language: "python", execution_count: 3 },
        outputs: [{ output_type: "stream", text: "1" }, { output_type: "display_data" }],
      },
      { cellType: "markdown", source: "# Title", cell_id: "b" },
    ]);
  });
});
