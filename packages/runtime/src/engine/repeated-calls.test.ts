import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type EndedCall, type LoopLimits, RepeatedCalls, toLoopLimits } from "./repeated-calls.ts";

type Given = Partial<Omit<EndedCall, "essence" | "content">> & { input?: unknown; says?: string };

function ended({
  name = "Read",
  input = { path: "a" },
  isUsable = true,
  says = "same",
  ran = true,
  changes = false,
}: Given): EndedCall {
  return {
    name,
    essence: input,
    isUsable,
    content: [{ type: "text", text: says }],
    ran,
    changes,
  };
}

/** `n`: the model is told. `S`: the turn ends. `.`: neither. */
function watch(calls: readonly Given[], limits: Partial<LoopLimits> = {}): string {
  const repeats = new RepeatedCalls(toLoopLimits(limits));
  return calls
    .map((given) => repeats.observe(ended(given)))
    .map(({ note, stop }) => (stop !== undefined ? "S" : note !== undefined ? "n" : "."))
    .join("");
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));
const edit = (index: number): Given => ({ name: "Edit", input: { index }, says: "done", changes: true });

describe("the same call with the same result", () => {
  const cases: [string, Given[], string][] = [
    ["is told at the third time and ends the turn at the sixth", times(6, () => ({})), "..nnnS"],
    ["whatever the order of its keys", times(6, (n) => ({ input: n % 2 ? { a: 1, b: 2 } : { b: 2, a: 1 } })), "..nnnS"],
    ["counts when it was refused", times(6, () => ({ ran: false })), "..nnnS"],
    ["counts with another one in between", times(11, (n) => ({ input: { n: n % 2 } })), "....nnnnnnS"],
    ["counts with others that find something new", times(11, (n) => (n % 2 ? { input: { n } } : {})), "....n.n.n.S"],
    [
      "counts beside one whose result changes",
      times(13, (n) => (n % 2 ? { name: "Bash", changes: true, says: `${n}` } : {})),
      "......n.n.n.S",
    ],
    ["counts broken input", times(6, () => ({ input: "{", isUsable: false, ran: false })), "..nnnS"],
    ["is another one when the input differs", times(9, (n) => ({ input: { n } })), "........."],
    [
      "is another one when broken input differs",
      times(19, (n) => ({ input: `{${n}`, isUsable: false, ran: false })),
      ".".repeat(19),
    ],
    [
      "is twenty in a row that cannot be run",
      times(20, (n) => ({ name: `T${n}`, isUsable: false, ran: false })),
      `${".".repeat(19)}S`,
    ],
    [
      "is not twenty with one in between that can",
      times(60, (n) => ({ input: { n }, isUsable: n % 20 === 0, ran: n % 20 === 0 })),
      ".".repeat(60),
    ],
    ["is another one when the tool differs", times(9, (n) => ({ name: `T${n}` })), "........."],
    ["begins anew when the result changes", times(9, (n) => ({ says: `${n >> 1}` })), "........."],
    ["begins anew after something was changed", times(18, (n) => (n % 2 ? edit(n) : {})), ".................."],
    ["does not when the change is always the same one", times(12, (n) => (n % 2 ? edit(0) : {})), ".....nnnnnnS"],
    ["does not for a refusal, which no change helps", times(11, (n) => (n % 2 ? edit(n) : { ran: false })), "....n.n.n.S"],
    ["counts with fifty calls from one to the next", times(101, (n) => (n % 50 ? { input: { n } } : {})), `${".".repeat(100)}n`],
    ["begins anew after many others", times(6 * 52, (n) => (n % 52 ? { input: { n } } : {})), ".".repeat(6 * 52)],
  ];
  for (const [name, calls, expected] of cases) {
    it(name, () => assert.equal(watch(calls).slice(0, expected.length), expected));
  }

  it("is excused by lost memories again once something new was changed", () => {
    const repeats = new RepeatedCalls(toLoopLimits({}));
    for (let times = 0; times < 4; times++) repeats.forget();
    repeats.observe(ended(edit(0)));
    const verdicts = [repeats.observe(ended({})), repeats.observe(ended({}))];
    repeats.forget();
    assert.deepEqual([...verdicts, repeats.observe(ended({}))], [{}, {}, {}]);
  });

  it("is not looked for where that is off, and where other numbers are set", () => {
    const same = times(8, () => ({}));
    assert.equal(watch(same, { noteAt: 0, stopAt: 0 }), "........");
    assert.equal(watch(same, { stopAt: 0 }), "..nnnnnn");
    assert.equal(watch(same, { noteAt: 0, stopAt: 4 }), "...SSSSS");
    assert.equal(watch(same, { noteAt: 0, stopAt: 2 }), ".SSSSSSS");
    for (const wrong of [1, -1, 2.5, Number.NaN])
      assert.throws(() => toLoopLimits({ stopAt: wrong }), {
        code: "config",
        message: `loops.stopAt is a whole number of at least 2, or 0 for never, not ${wrong}`,
      });
  });

  it("begins anew when the model no longer knows its calls", () => {
    const repeats = new RepeatedCalls(toLoopLimits());
    for (let index = 0; index < 5; index++) repeats.observe(ended({}));
    repeats.forget();
    assert.deepEqual(repeats.observe(ended({})), {});
  });

  it("counts on when the model forgets again and again without having changed anything", () => {
    const repeats = new RepeatedCalls(toLoopLimits());
    const said: (string | undefined)[] = [];
    for (let index = 0; index < 10; index++) {
      said.push(repeats.observe(ended({ name: "Bash", changes: true })).stop);
      repeats.forget();
    }
    assert.equal(
      said.findIndex((stop) => stop !== undefined),
      8,
    ); // three times forgotten, then six in a row

    for (let index = 0; index < 20; index++) {
      repeats.restart();
      assert.deepEqual(repeats.observe(ended({})), {});
    }
  });

  it("counts calls that cannot be run anew after a message of a person, and not at all where circles may go on", () => {
    const broken = (repeats: RepeatedCalls, count: number): unknown[] =>
      times(count, (n) => repeats.observe(ended({ name: `T${n}`, isUsable: false, ran: false })).stop);
    const repeats = new RepeatedCalls(toLoopLimits());
    broken(repeats, 19);
    repeats.restart();
    assert.deepEqual(broken(repeats, 20), [
      ...new Array(19).fill(undefined),
      "20 calls in a row could not be run: there was no such tool, or the input did not fit it",
    ]);
    assert.deepEqual(broken(new RepeatedCalls(toLoopLimits({ stopAt: 0 })), 40), new Array(40).fill(undefined));
  });

  it("is excused by lost memories again after a message of a person", () => {
    const repeats = new RepeatedCalls(toLoopLimits());
    for (let times = 0; times < 4; times++) repeats.forget();
    repeats.restart();
    for (let times = 0; times < 2; times++) repeats.observe(ended({}));
    repeats.forget();
    assert.deepEqual(repeats.observe(ended({})), {});
  });

  it("says how often it happened, and when the turn ends", () => {
    const noteOf = (limits: Partial<LoopLimits>): string | undefined => {
      const repeats = new RepeatedCalls(toLoopLimits(limits));
      return times(3, () => repeats.observe(ended({}))).at(-1)?.note;
    };
    const said =
      "You have made this call 3 times with the same input, and its result was the same each time. Making it again will not change that: try something else, or give your final answer and say what is in the way.";
    assert.equal(noteOf({}), `[${said} The turn ends when it has happened 6 times.]`);
    assert.equal(noteOf({ stopAt: 0 }), `[${said}]`);
  });
});

describe("answers whose calls all fail", () => {
  const failed = { isError: true };
  const worked = { isError: false };
  const hear = (repeats: RepeatedCalls, answers: number): string =>
    times(answers, () => repeats.endAnswer([failed]))
      .map(({ note, stop }) => (stop !== undefined ? "S" : note !== undefined ? "n" : "."))
      .join("");

  it("are told once at the fifteenth in a row, and end the turn at the thirtieth", () => {
    const repeats = new RepeatedCalls(toLoopLimits());
    assert.equal(hear(repeats, 30), `${".".repeat(14)}n${".".repeat(14)}S`);
    assert.deepEqual(repeats.endAnswer([failed]), { stop: "all calls of 31 answers in a row were denied or failed" });
  });

  it("begin anew with one call that works beside them, and with a message of a person", () => {
    const repeats = new RepeatedCalls(toLoopLimits());
    assert.equal(hear(repeats, 14), ".".repeat(14));
    assert.deepEqual(repeats.endAnswer([failed, worked, failed]), {});
    assert.equal(hear(repeats, 14), ".".repeat(14));
    repeats.restart();
    assert.equal(hear(repeats, 15), `${".".repeat(14)}n`);
  });

  it("count by answers, not by calls", () => {
    const repeats = new RepeatedCalls(toLoopLimits());
    assert.deepEqual(repeats.endAnswer(new Array(100).fill(failed)), {});
  });

  it("follow the numbers that are set for circles", () => {
    assert.equal(hear(new RepeatedCalls(toLoopLimits({ noteAt: 0, stopAt: 2 })), 10), ".........S");
    assert.equal(hear(new RepeatedCalls(toLoopLimits({ noteAt: 0, stopAt: 0 })), 100), ".".repeat(100));
    const told = (limits: Partial<LoopLimits>): string | undefined => {
      const repeats = new RepeatedCalls(toLoopLimits(limits));
      return times(15, () => repeats.endAnswer([failed])).at(-1)?.note;
    };
    const said =
      "All calls of your last 15 answers were denied or failed. More of the same kind will not help: try something that you know is allowed and works, or give your final answer and say what is in the way.";
    assert.equal(told({}), `[${said} The turn ends when that is so for 30 answers in a row.]`);
    assert.equal(told({ stopAt: 0 }), `[${said}]`);
  });
});
