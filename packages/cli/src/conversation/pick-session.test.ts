import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SessionSummary } from "@outrider/runtime/admin";
import type { Key, KeyName } from "../terminal/keys.ts";
import { createPaint } from "../terminal/paint.ts";
import { SessionPicker } from "./pick-session.ts";

const sessions = Array.from({ length: 30 }, (_, n) => ({
  id: `${String(n).padStart(8, "0")}-0000`,
  cwd: "/project",
  prompt: n === 7 ? "mend the\x1b[2J parser" : `prompt ${n}`,
  updatedAt: "2026-11-17T04:05:06.000Z",
  turns: n,
})) as unknown as SessionSummary[];
const key = (name: KeyName): Key => ({ type: "named", name });

describe("choosing a session", () => {
  it("opens the one the arrow stands at", () => {
    const picker = new SessionPicker(sessions, createPaint(false));
    for (const name of ["down", "down", "up", "page-down"] as const) assert.equal(picker.press(key(name)), undefined);
    assert.deepEqual(picker.press(key("enter")), { session: sessions[11] });
  });

  it("narrows the list by words, and begins at its top again", () => {
    const picker = new SessionPicker(sessions, createPaint(false));
    picker.press(key("page-down"));
    picker.press({ type: "text", text: "parser MEND" });
    assert.deepEqual(picker.press(key("enter")), { session: sessions[7] });
    picker.press({ type: "text", text: "zzz" });
    assert.equal(picker.press(key("enter")), undefined);
    assert.deepEqual(picker.bottom(40, 20).lines.slice(0, 2), ["search: parser MENDzzz", "  nothing has these words"]);
  });

  it("leaves with Esc, Ctrl-C and Ctrl-D", () => {
    for (const name of ["escape", "ctrl-c", "ctrl-d"] as const)
      assert.deepEqual(new SessionPicker(sessions, createPaint(false)).press(key(name)), { session: undefined });
  });

  it("is never higher or wider than the terminal, and what it shows steers nothing", () => {
    const picker = new SessionPicker(sessions, createPaint(false));
    const { lines } = picker.bottom(40, 12);
    assert.equal(lines.length, 10);
    assert.ok(lines.every((line) => line.length < 40));
    assert.ok(picker.bottom(90, 40).lines.includes("  00000007  2026-11-17 04:05    7 turns  mend the\\u001b[2J parser"));
  });
});
