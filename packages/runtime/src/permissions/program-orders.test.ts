import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { everyday, groundOf, listing, policyOf, programIn, root } from "../../../../test/support/command-scene.ts";
import type { Policy } from "./policy.ts";
import { ProgramOrders } from "./program-orders.ts";
import { lookingOf } from "./read-only-commands.ts";

const plain: Readonly<Record<string, string>> = { "/": "repo/", [root]: "a.sh src/", [`${root}/src`]: "b.ts" };
const withFile = (name: string, folder = root) => ({ ...plain, [folder]: `${plain[folder]} ${name}` });
type Given = Partial<Policy> & { folders?: Readonly<Record<string, string>> | undefined; changed?: boolean };

function ordersOf({ folders = plain, ...given }: Given) {
  const list = "listFolder" in given ? given.listFolder : listing(folders);
  return { orders: new ProgramOrders(policyOf(given), list), ground: groundOf(list) };
}

const go = (text: string | undefined, folders = withFile("go.mod")): Given => ({
  folders,
  programs: { ...everyday, found: async () => ({ file: "/usr/bin/go", real: "/usr/lib/go/bin/go" }) },
  readText: async (file) => (file === "/usr/lib/go/VERSION" ? "go1.22.3" : text),
});

const shims: Given = {
  programs: { ...everyday, found: async (name: string) => ({ file: `/opt/shims/${name}`, real: `/opt/shims/${name}` }) },
};

describe("a question to a program about itself", () => {
  const isAnswer = (command: string, given: Given = {}): Promise<boolean> => {
    const { orders, ground } = ordersOf(given);
    return orders.isAnswer(programIn(command), given.changed ? undefined : ground);
  };
  const inSystem = { programs: { ...everyday, place: async () => "system" as const } };
  const rows: [fact: string, command: string, given: Given, expected: boolean][] = [
    ["is answered", "foo --version", {}, true],
    ["is none", "foo --verbose", {}, false],
    ["is answered by what nobody tells anything", "npm --version", {}, true],
    ["may be answered by what the project names", "npm --version", { folders: withFile(".npmrc") }, false],
    ["may be answered so where nothing is listed", "npm --version", { listFolder: undefined }, false],
    ["may be answered so after a change", "npm --version", { changed: true }, false],
    ["by a word is answered", "foo version", {}, true],
    ["by a word may name a file", "foo version", { folders: withFile("version.txt") }, false],
    ["by a word may name a file where nothing is listed", "foo version", { listFolder: undefined }, false],
    ["by a word may name a file after a change", "foo version", { changed: true }, false],
    ["by a word is taken as such by programs of the system that are known", "git version", inSystem, true],
    ["by a word is not taken as such by others of the system", "foo version", inSystem, false],
    [
      "is not asked of a program of the project",
      "foo --help",
      { programs: { ...everyday, place: async () => "project" } },
      false,
    ],
    ["is not asked of what nobody finds", "foo --help", { programs: { ...everyday, place: async () => undefined } }, false],
    ["is not asked where nobody looks for programs", "foo --help", { programs: undefined }, false],
    ["is answered by the go that is installed", "gofmt --help", go("go 1.22"), true],
    ["may be answered by another go", "gofmt --help", go("go 1.23"), false],
    ["may be answered by what a version manager chooses", "foo --version", shims, false],
  ];
  for (const [fact, command, given, expected] of rows)
    it(`${fact}: ${command}`, async () => assert.equal(await isAnswer(command, given), expected));
});

describe("a program that looks", () => {
  const stranger = async (command: string, given: Given = {}): Promise<string | undefined> => {
    const { orders, ground } = ordersOf(given);
    const program = programIn(command);
    return orders.stranger(program, { looking: lookingOf(program), changed: given.changed ?? false, ground });
  };
  const obeys = (name: string): string => `${name} may do what a file of the project says`;
  const imports = (name: string): string => `${name} may take modules from the project`;
  const isOther = (name: string): string => `${name} may be a program of the project`;
  const shadowed = (wanted: boolean): Given => ({
    programs: { ...everyday, isShadowed: async (_, changed) => changed === wanted },
  });
  const rows: [command: string, given: Given, expected: string | undefined][] = [
    ["npm ls", {}, undefined],
    ["npm ls", { folders: withFile(".npmrc") }, obeys("npm")],
    // What a file of npm says matters whatever that is, also where files can be read.
    ["npm ls", { folders: withFile(".npmrc"), readText: async () => "registry=x" }, obeys("npm")],
    ["npm ls", { changed: true }, obeys("npm")],
    ["cat a.sh", { folders: withFile(".npmrc"), changed: true }, undefined],
    ["shellcheck a.sh", {}, undefined],
    ["shellcheck src/b.ts", { folders: withFile(".shellcheckrc", `${root}/src`) }, obeys("shellcheck")],
    ["shellcheck a.sh", { folders: withFile(".shellcheckrc", `${root}/src`) }, undefined],
    ["go env GOPATH", go("go 1.22"), undefined],
    ["go env GOPATH", go("go 1.23"), obeys("go")],
    ["go env GOPATH", go(undefined), obeys("go")],
    ["go env GOPATH", { ...go("go 1.22"), readText: async () => Promise.reject(new Error("gone")) }, obeys("go")],
    ["go env GOPATH", { ...go("go 1.22"), readText: undefined }, obeys("go")],
    ["jq . a.json", shadowed(false), isOther("jq")],
    ["jq . a.json", shadowed(true), undefined],
    ["jq . a.json", { ...shadowed(true), changed: true }, isOther("jq")],
    ["jq . src/a.json", shadowed(false), isOther("jq")],
    ["/usr/bin/jq . a.json", shadowed(false), undefined],
    ["echo x", shadowed(false), undefined],
    ["jq . a.json", { programs: undefined }, undefined],
    ["zcat a.gz", shadowed(true), isOther("zcat")],
    ["nice jq . a.json", shadowed(false), isOther("nice")],
    ["made-up a", shadowed(false), undefined],
    ["jq . src/a.json", shims, obeys("jq")],
    ["/opt/shims/jq . a.json", shims, undefined],
    ["echo x", shims, undefined],
    ["python3 -m json.tool a.json", {}, undefined],
    ["python3 -m json.tool a.json", { folders: withFile("json.py") }, imports("python3")],
    ["python3 -m json.tool a.json", { changed: true }, imports("python3")],
    ["python3 -m json.tool a.json", { listFolder: undefined }, imports("python3")],
  ];
  for (const [command, given, expected] of rows)
    it(`${command}: ${expected ?? "is itself"} (${Object.keys(given).join(", ")})`, async () =>
      assert.equal(await stranger(command, given), expected));

  for (const operand of ["src/*.sh", '"$X"'])
    it(`may be told what to do beside files that are not known: ${operand}`, async () => {
      const { orders, ground } = ordersOf({});
      const looking = { reads: programIn(`x ${operand}`).words.slice(1), writes: [] };
      assert.equal(await orders.stranger(programIn("shellcheck a.sh"), { looking, changed: false, ground }), obeys("shellcheck"));
    });

  it("is not known in a folder that is not", async () => {
    const { orders, ground } = ordersOf({});
    const lost = (command: string) => ({ ...programIn(command), places: undefined });
    const by = { changed: false, ground };
    const npm = lost("npm ls");
    assert.equal(await orders.stranger(npm, { ...by, looking: lookingOf(npm) }), obeys("npm"));
    const python = lost("python3 -m json.tool a.json");
    assert.equal(await orders.stranger(python, { ...by, looking: lookingOf(python) }), imports("python3"));
    assert.equal(await orders.isAnswer(lost("foo version"), ground), false);
  });
});
