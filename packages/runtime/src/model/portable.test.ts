import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPortable } from "./portable.ts";

const places = { "{{cwd}}": ["/work", "/link/to/work"], "{{home}}": "/home/me" };

describe("what is made portable", () => {
  const cases: [local: string, portable: string][] = [
    ["in /work and /work/a.ts, also (/work)", "in {{cwd}} and {{cwd}}/a.ts, also ({{cwd}})"],
    ["It is /work. file:///work/a", "It is {{cwd}}. file://{{cwd}}/a"],
    ["/workspace /work-2 /work.old /data/work ~/work my.work", "/workspace /work-2 /work.old /data/work ~/work my.work"],
    ["/home/me/x /home/meg", "{{home}}/x /home/meg"],
    ['{"text":"one\\n/work/a\\t/home/me"}', '{"text":"one\\n{{cwd}}/a\\t{{home}}"}'],
    ["a template with {{cwd}} and {{user}}", "a template with \\{{cwd}} and {{user}}"],
    ["\\{{cwd}}", "\\\\{{cwd}}"],
    ["a template with {{overflow:7}}", "a template with \\{{overflow:7}}"],
  ];
  for (const [local, portable] of cases) {
    it(`comes back as it was: ${local}`, () => {
      const translator = createPortable({ places });
      assert.equal(translator.from(local), portable);
      assert.equal(createPortable({ places }).to(portable), local);
    });
  }

  it("puts back the first of several names", () => {
    const translator = createPortable({ places });
    assert.equal(translator.to(translator.from("cd /link/to/work/src")), "cd /work/src");
  });

  it("knows whole values, their names included, and leaves what is no text", () => {
    const { from } = createPortable({ places });
    assert.deepEqual(from({ "/work/a": ["/work", 1, null, true, { deep: "/home/me" }] }), {
      "{{cwd}}/a": ["{{cwd}}", 1, null, true, { deep: "{{home}}" }],
    });
  });

  it("takes no root, and nothing at all, for a place", () => {
    const { from } = createPortable({ places: { "{{home}}": "/", "{{cwd}}": "" } });
    assert.equal(from("/etc/hosts"), "/etc/hosts");
  });

  it("gives one place that has two words the first of them", () => {
    const { from } = createPortable({ places: { "{{cwd}}": "/root", "{{home}}": "/root" } });
    assert.equal(from("/root/a"), "{{cwd}}/a");
  });

  it("sees what was added to a list since", () => {
    const { from } = createPortable({ places });
    const list = [{ text: "/work" }];
    from(list);
    list.push({ text: "/work/b" });
    assert.deepEqual(from(list), [{ text: "{{cwd}}" }, { text: "{{cwd}}/b" }]);
  });

  it("numbers files of overflowing output as results name them, and finds them again in another run", () => {
    const run = (folder: string) => ({
      result: `a\n… 9 characters omitted; the whole output is in ${folder}/Bash-1-0a1b2c3d.txt …\nz`,
      other: `a\n… 9 characters omitted; the first 5 characters are in ${folder}/Bash 2.txt, the rest is lost …\nz`,
      call: { file_path: `${folder}/Bash-1-0a1b2c3d.txt` },
    });
    const then = createPortable({ places }).from(run("/home/me/.outrider/overflow/s1"));
    assert.deepEqual(then, {
      result: "a\n… 9 characters omitted; the whole output is in {{overflow:1}} …\nz",
      other: "a\n… 9 characters omitted; the first 5 characters are in {{overflow:2}}, the rest is lost …\nz",
      call: { file_path: "{{overflow:1}}" },
    });
    const now = createPortable({ places });
    const { result, call } = run("/tmp/outrider-s2");
    now.from(result);
    assert.deepEqual(now.to(then.call), call);
  });

  const keys: [key: string, kind: string][] = [
    ["sk-ant-api03-abcdefghijklmnop", "anthropic-key"],
    [`AIza${"a".repeat(35)}`, "google-key"],
    ["ghp_abcdefghijklmnopqrstuvwxyz0123456789", "github-token"],
    ["xoxb-123456789012-abcdefghij", "slack-token"],
    ["AKIAIOSFODNN7EXAMPLE", "aws-key-id"],
    ["gsk_abcdefghijklmnopqrstuvwxyz", "groq-key"],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "json-web-token"],
    ["-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "private-key"],
  ];
  for (const [key, kind] of keys) {
    it(`holds no key: ${key.slice(0, 14)}…`, () => {
      assert.equal(createPortable({ places }).from(`KEY=${key}\nrest`), `KEY=[redacted:${kind}]\nrest`);
    });
  }

  it("holds none of the secrets it is told", () => {
    const { from } = createPortable({ places, secrets: ["correct horse"] });
    assert.equal(from("It is correct horse, really"), "It is [redacted], really");
  });
});
