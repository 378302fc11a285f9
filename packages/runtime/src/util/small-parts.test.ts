import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, it } from "node:test";
import { fingerprint } from "./fingerprint.ts";
import { nearest } from "./nearest.ts";
import { pathKey } from "./path-key.ts";
import { shortChecksum } from "./short-checksum.ts";
import { sleep } from "./sleep.ts";
import { untilAborted } from "./until-aborted.ts";
import { wellFormed, wellFormedValue } from "./well-formed.ts";

describe("fingerprint", () => {
  it("is the same for the same JSON, whatever the order of keys, and only for that", () => {
    const one = fingerprint({ a: 1, b: { c: [1, 2], d: null } });
    assert.equal(fingerprint({ b: { d: null, c: [1, 2] }, a: 1 }), one);
    for (const other of [{ a: 1, b: { c: [2, 1], d: null } }, { a: 1 }, [1], "a", null, undefined])
      assert.notEqual(fingerprint(other), one);
    assert.equal(fingerprint(undefined), fingerprint(undefined));
  });
});

describe("nearest", () => {
  it("is the candidate that was most likely meant", () => {
    assert.equal(nearest("Wrte", ["Read", "Write", "Bash"]), "Write");
    assert.equal(nearest("WRITE", ["Read", "write"]), "write");
    assert.equal(nearest("teh", ["the", "them"]), "the");
    assert.equal(nearest("ab", ["cd", "ef"]), undefined);
    assert.equal(nearest("ba", ["cd", "ab"]), "ab");
    assert.equal(nearest("foo", ["now", "for"]), "for");
    assert.equal(nearest("foo", ["now"]), undefined);
    assert.equal(nearest("abc", ["xyz"]), undefined);
    assert.equal(nearest("x", []), undefined);
    assert.equal(nearest("Reed", ["Road", "Read"]), "Read");
  });

  it("may differ in two letters, and in a third of a long word", () => {
    assert.equal(nearest("settings", ["setting12"]), "setting12");
    assert.equal(nearest("abcdef", ["abcdxy"]), "abcdxy");
    assert.equal(nearest("abcdef", ["abcxyz"]), undefined);
    assert.equal(nearest("abcdefghi", ["abcdefxyz"]), "abcdefxyz");
    assert.equal(nearest("abcdefghi", ["abcdewxyz"]), undefined);
    assert.equal(nearest("abc", [""]), undefined);
    assert.equal(nearest("a", ["abcdefgh"]), undefined);
  });
});

describe("sleep", () => {
  it("ends when the time is up, or with the reason as soon as it is aborted, and leaves no listener", async () => {
    const controller = new AbortController();
    await sleep(1, controller.signal);
    assert.equal(getEventListeners(controller.signal, "abort").length, 0);
    const long = sleep(60_000, controller.signal);
    controller.abort(new Error("enough"));
    await assert.rejects(long, /enough/);
    await assert.rejects(sleep(60_000, controller.signal), /enough/);
  });
});

describe("untilAborted", () => {
  it("leaves nothing unheard behind when it is asked too late", async () => {
    const unheard: unknown[] = [];
    const hear = (reason: unknown): void => void unheard.push(reason);
    process.on("unhandledRejection", hear);
    const late = new Promise((_, reject) => setImmediate(() => reject(new Error("late"))));
    await assert.rejects(untilAborted(late, AbortSignal.abort(new Error("stop"))), /stop/);
    await sleep(20, new AbortController().signal);
    process.off("unhandledRejection", hear);
    assert.deepEqual(unheard, []);
  });

  it("is what comes first, and leaves no listener", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    assert.equal(await untilAborted(Promise.resolve(1), signal), 1);
    await assert.rejects(untilAborted(Promise.reject(new Error("failed")), signal), /failed/);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(getEventListeners(signal, "abort").length, 0);
    const never = untilAborted(new Promise(() => {}), signal);
    controller.abort(new Error("enough"));
    await assert.rejects(never, /enough/);
    await assert.rejects(untilAborted(Promise.resolve(1), signal), /enough/);
  });
});

describe("shortChecksum", () => {
  it("is eight digits that tell texts apart", () => {
    assert.deepEqual([shortChecksum(""), shortChecksum("a"), shortChecksum("b")], ["811c9dc5", "e40c292c", "e70c2de5"]);
    assert.match(shortChecksum("\u{1f600}"), /^[0-9a-f]{8}$/);
  });
});

describe("pathKey", () => {
  it("can be read, and is a hash where no file system would take it or two paths would look the same", () => {
    assert.equal(pathKey("/a b/c"), "%2Fa%20b%2Fc");
    assert.equal(pathKey("x".repeat(200)), "x".repeat(200));
    assert.match(pathKey("x".repeat(201)), /^[0-9a-f]{64}$/);
    assert.match(pathKey("\ud800"), /^[0-9a-f]{64}$/);
    assert.notEqual(pathKey("\ud800"), pathKey("\ud801"));
  });
});

describe("wellFormed", () => {
  it("takes half characters out of texts, values and names, and leaves all others as they are", () => {
    assert.deepEqual([wellFormed("a\u{1f600}"), wellFormed("a\ud83d")], ["a\u{1f600}", "a\ufffd"]);
    const fine = { a: ["x", 1, null, { b: true }] };
    assert.equal(wellFormedValue(fine), fine);
    assert.deepEqual(wellFormedValue({ "n\ud800": 1, list: ["\udfff", "y"], kept: fine }), {
      "n\ufffd": 1,
      list: ["\ufffd", "y"],
      kept: fine,
    });
  });

  it("cuts off what is nested too deeply to be sent", () => {
    const nested = (levels: number): unknown => (levels === 0 ? "x" : [nested(levels - 1)]);
    assert.deepEqual(wellFormedValue(nested(501)), nested(501));
    assert.match(JSON.stringify(wellFormedValue(nested(502))), /nested too deeply to be sent/);
  });
});
