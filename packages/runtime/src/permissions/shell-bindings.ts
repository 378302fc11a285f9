import type { Assignment } from "unbash";
import type { ScriptNumbers } from "./script-numbers.ts";
import type { Setters } from "./shell-setters.ts";
import { type Bindings, numberWord, otherNames, plainWord, readValue, type ShellWord, unknownWord } from "./shell-words.ts";

/** Where anything may have been set. */
const nothingKnown: Bindings = new Map([
  ["HOME", unknownWord],
  ["PWD", unknownWord],
  [otherNames, unknownWord],
]);

/** At the start of a script that may set these: what the environment holds, or nothing. */
export function beforeAny({ setters, any }: Setters, numbers: ScriptNumbers): Bindings {
  if (any) return new Map([[otherNames, unknownWord]]);
  const isSet = ({ name, temporary }: Setters["setters"][number]): boolean => !temporary && name !== "HOME" && name !== "PWD";
  return new Map(setters.filter(isSet).map(({ name }) => [name, numbers.isPlainText(name) ? plainWord : unknownWord]));
}

/** What is known about variables, less what these may have set. A name without an entry may be anything. */
export function withoutSet(bindings: Bindings, { setters, any }: Setters, numbers: ScriptNumbers): Bindings {
  if (any) return nothingKnown;
  const lasting = setters.filter(({ temporary }) => !temporary);
  return new Map([...bindings, ...lasting.map(({ name }) => [name, unknownValue(name, numbers)] as const)]);
}

export function withAssignment(bindings: Bindings, assignment: Assignment, numbers: ScriptNumbers): Bindings {
  const { name, value, append, index } = assignment;
  const known = value.type === "Word" && !append && !index ? readValue(value, bindings) : undefined;
  return new Map([...bindings, [name, known ?? unknownValue(name, numbers)]]);
}

/** Some value this variable may hold. */
function unknownValue(name: string, numbers: ScriptNumbers): ShellWord {
  if (numbers.isNumeric(name)) return numberWord;
  return numbers.isPlainText(name) ? plainWord : unknownWord;
}
