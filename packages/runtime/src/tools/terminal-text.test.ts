import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toTerminalText } from "./terminal-text.ts";

describe("the output of a program, as a terminal would show it", () => {
  const cases: [fact: string, output: string, shown: string][] = [
    ["is left alone without control characters", " a \t b \n\n", " a \t b \n\n"],
    ["has no colours", "\u001b[1;31merror\u001b[0m: \u001b[38;2;1;2;3mx\u001b[m", "error: x"],
    ["keeps the last state of a progress bar", "0%\r 50%\r100% done\nnext", "100% done\nnext"],
    ["keeps what a shorter line does not cover", "abc\rX", "Xbc"],
    ["forgets what was erased", "downloading 12 of 90\r\u001b[Kdone", "done"],
    ["forgets a line that was erased whole", "abc\u001b[2K\rx", "x"],
    ["blanks what was erased up to the cursor", "abcd\b\b\u001b[1Kx", "  xd"],
    ["follows a cursor that is sent to a column", "abc\u001b[1GX\u001b[9GY", "XbcY"],
    ["has plain line ends", "a\r\nb\r\n", "a\nb\n"],
    ["takes back what was deleted", "|\b/\b-\b\\\bok", "ok"],
    ["has no titles and links", "\u001b]0;title\u0007a \u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\", "a link"],
    ["has no other sequences", "\u001b(B\u001b=\u001b7x\u001b8\u001bcy\u001b", "xy"],
    ["has bold and underlined text of manuals once", "N\bNA\bAM\bME\bE _\bx", "NAME x"],
  ];
  for (const [fact, output, shown] of cases) {
    it(fact, () => assert.equal(toTerminalText(output), shown));
  }

  it("takes time in proportion to the output", () => {
    const began = process.cpuUsage().user;
    toTerminalText(`${"\u001b[".repeat(200_000)}\n${"50%\r".repeat(200_000)}\n${"\u001b]".repeat(200_000)}`);
    assert.ok(process.cpuUsage().user - began < 5_000_000);
  });
});
