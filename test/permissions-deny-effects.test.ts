import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe } from "node:test";
import type { Policy } from "../packages/runtime/src/permissions/policy.ts";
import { createGround } from "./support/command-ground.ts";
import { rules } from "./support/command-scene.ts";
import { itHolds } from "./support/it-holds.ts";

type Effects = { readonly [kind in "reads" | "edits" | "pushes" | "untouched" | "unwritten"]: string[] };

const file = join(process.env["OUTRIDER_ROOT"] ?? process.cwd(), "test/fixtures/deny-effects.json");
const effects = JSON.parse(readFileSync(file, "utf8")) as Effects; // our own file
const ground = createGround();
after(() => ground.remove());

/** Where nothing but these rules stands in the way of a command. */
function watchedBy(...texts: string[]): Readonly<Record<string, Partial<Policy>>> {
  const watching = rules(...texts);
  return {
    "denied where permissions are bypassed": { mode: "bypassPermissions", deny: watching },
    "asked about where permissions are bypassed": { mode: "bypassPermissions", ask: watching },
    "denied beside a rule for all commands": { allow: rules("Bash"), deny: watching },
  };
}

function itIsHeldBack(what: string, commands: readonly string[], rule: string): void {
  for (const [how, given] of Object.entries(watchedBy(rule)))
    itHolds(`${what} is ${how}`, commands, async (command) =>
      (await ground.judge(command, given)).effect === "allow" ? `${command} runs unasked` : undefined,
    );
}

function itGoesOn(fact: string, commands: readonly string[], watching: readonly string[]): void {
  itHolds(fact, commands, async (command) => {
    const { effect, reason } = await ground.judge(command, { mode: "bypassPermissions", deny: rules(...watching) });
    return effect === "allow" ? undefined : `${command}: ${effect}: ${reason}`;
  });
}

describe("a rule holds for what a program does in its own words", () => {
  itIsHeldBack("reading a file", effects.reads, "Read(.env)");
  itIsHeldBack("changing a file", effects.edits, "Edit(src/**)");
  itIsHeldBack("running a command", effects.pushes, "Bash(git push:*)");

  itGoesOn("everyday work goes on", effects.untouched, ["Read(.env)", "Edit(src/**)", "Bash(git push:*)"]);
  itGoesOn("what shows files goes on where none is protected from that", effects.unwritten, ["Edit(src/**)", "Bash(git push:*)"]);
  itGoesOn("a rule for another tool has no say in it", [...effects.reads, ...effects.pushes].filter(isOfSed), ["WebSearch"]);
});

function isOfSed(command: string): boolean {
  return command.startsWith("sed ") && !command.includes("$x");
}
