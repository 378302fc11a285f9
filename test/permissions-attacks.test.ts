import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, describe } from "node:test";
import type { Policy } from "../packages/runtime/src/permissions/policy.ts";
import type { ProgramFinder } from "../packages/runtime/src/permissions/program-finder.ts";
import { createGround } from "./support/command-ground.ts";
import { itHolds } from "./support/it-holds.ts";

type Attacks = { readonly code: string[]; readonly outside: string[]; readonly hostile: string[]; readonly edits: string[] };

const file = join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "test/fixtures/command-attacks.json");
const attacks = JSON.parse(readFileSync(file, "utf8")) as Attacks; // our own file
const plain = createGround();
const hostile = createGround({ hostile: true });
// A link whose name is no text.
symlinkSync("../../outside/secret.txt", Buffer.concat([Buffer.from(join(hostile.root, "test/odd")), Buffer.from([0xff])]));
after(() => {
  for (const ground of [plain, hostile]) ground.remove();
});

/** Names the commands that need no question. */
function itAsks(fact: string, commands: readonly string[], ground: typeof plain, given: Partial<Policy>): void {
  itHolds(fact, commands, async (command) =>
    (await ground.judge(command, given)).effect === "allow" ? `${command} runs unasked` : undefined,
  );
}

describe("nothing runs unasked", () => {
  for (const mode of ["default", "plan"] as const) {
    itAsks(`that would run code, in mode ${mode}`, attacks.code, plain, { mode, networkReads: true });
    itAsks(`that reads outside the project, in mode ${mode}`, attacks.outside, plain, { mode, networkReads: true });
    itAsks(`that reads outside a project with links, in mode ${mode}`, attacks.outside, hostile, { mode });
    itAsks(`that reads through the links of a project, in mode ${mode}`, attacks.hostile, hostile, { mode });
  }
  itAsks("that writes outside, or after the line has moved what a path means", attacks.edits, hostile, { mode: "acceptEdits" });
  itAsks("where edits need no question", [...attacks.code, ...attacks.outside], plain, { mode: "acceptEdits" });

  const inProject: ProgramFinder = { place: async () => "project", isShadowed: async () => true };
  const names = ["ls", "node --version", "timeout 5 cat a", "x --help"];
  itAsks("by a name that leads to a program of the project", names, plain, { programs: inProject });
});
