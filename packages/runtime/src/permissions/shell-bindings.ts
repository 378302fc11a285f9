import type { Assignment } from "unbash";
import type { ScriptNumbers } from "./script-numbers.ts";
import type { Setters } from "./shell-setters.ts";
import {
  type Bindings,
  maybeNumber,
  numberWord,
  otherNames,
  plainWord,
  readValue,
  type ShellWord,
  unknownWord,
} from "./shell-words.ts";

/** Where anything may have been set. */
const nothingKnown: Bindings = new Map([
  ["HOME", unknownWord],
  ["PWD", unknownWord],
  [otherNames, unknownWord],
]);

/** At the start of a script that may set these: what the environment holds, or nothing. */
export function beforeAny({ setters, any }: Setters, numbers: ScriptNumbers): Bindings {
  if (any) return new Map([[otherNames, unknownWord]]);
  const isOther = ({ name, temporary }: Setters["setters"][number]): boolean => !temporary && name !== "HOME" && name !== "PWD";
  return new Map(setters.filter(isOther).map(({ name }) => [name, numbers.isPlainText(name) ? plainWord : unknownWord]));
}

/** What is known about variables, less what these may have set. A name without an entry may be anything. */
export function withoutSet(bindings: Bindings, { setters, any }: Setters, numbers: ScriptNumbers): Bindings {
  if (any) return nothingKnown;
  const lasting = setters.filter(({ temporary }) => !temporary);
  const valueNow = (name: string): ShellWord =>
    isSet(bindings.get(name)) ? valueOnceSet(name, numbers) : unknownValue(name, numbers);
  return new Map([...bindings, ...lasting.map(({ name }) => [name, valueNow(name)] as const)]);
}

export function withAssignment(bindings: Bindings, assignment: Assignment, numbers: ScriptNumbers): Bindings {
  const { name, value, append, index } = assignment;
  const known = value.type === "Word" && !append && !index ? readValue(value, bindings) : undefined;
  return new Map([...bindings, [name, known ?? valueOnceSet(name, numbers)]]);
}

/** Some value this variable holds where it is certain that it was set. */
export function valueOnceSet(name: string, numbers: ScriptNumbers): ShellWord {
  return numbers.isFilled(name) ? numberWord : unknownValue(name, numbers);
}

function isSet(word: ShellWord | undefined): boolean {
  return word?.digits ? !word.splits : word?.kind === "exact";
}

/** Some value this variable may hold. */
function unknownValue(name: string, numbers: ScriptNumbers): ShellWord {
  if (numbers.isNumeric(name)) return maybeNumber;
  return numbers.isPlainText(name) ? plainWord : unknownWord;
}
