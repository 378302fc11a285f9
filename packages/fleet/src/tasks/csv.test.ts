import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseCsv } from "./csv.ts";

describe("a table", () => {
  it("has quotes, commas and line ends in its fields", () => {
    assert.deepEqual(parseCsv('id,prompt\r\na,"one ""two"", three\nfour"\n'), [{ id: "a", prompt: 'one "two", three\nfour' }]);
  });

  it("loses no row: a quote that is never closed and a field too many are errors", () => {
    assert.throws(() => parseCsv('id,prompt\na,"unclosed\nb,c\n'), /a quote is not closed in row 2/);
    assert.throws(() => parseCsv("id,prompt\na,b\nc,d,e\n"), /row 3 has 3 fields, the header 2/);
    assert.deepEqual(parseCsv("id,prompt\na\n"), [{ id: "a", prompt: "" }]);
  });

  it("may be divided by semicolons or tabs, and have columns without a name; a name twice is an error", () => {
    assert.deepEqual(parseCsv("id;prompt\r\na;b, c\r\n"), [{ id: "a", prompt: "b, c" }]);
    assert.deepEqual(parseCsv("id\tprompt\na\tb;c\n"), [{ id: "a", prompt: "b;c" }]);
    assert.deepEqual(parseCsv("id,prompt,,\na,b,,\n"), [{ id: "a", prompt: "b" }]);
    assert.throws(() => parseCsv("id,prompt,prompt\na,b,c\n"), /two columns have the name "prompt"/);
  });
});
