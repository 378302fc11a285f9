import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolder } from "../../util/make-folder.ts";
import { laterGroups } from "./later-files.ts";
import type { LaterFile, Plants } from "./plant-search.ts";

const maxNames = 10;
/** Of each group, when there is more than can be told. */
const maxOfGroup = 5;
const maxLetters = 200;

export type Telling = {
  readonly undone: readonly string[];
  readonly plants: Plants;
  /** Of the sandbox, where the whole lists are kept. */
  readonly directory: string;
  readonly setAside: string;
};

/** What a command left behind, in words for the end of its output. A long list is shortened by groups, and kept whole in a file. */
export async function tellPlants({ undone, plants, directory, setAside }: Telling): Promise<string> {
  const { failed, listed, isWhole } = plants;
  const texts = [
    ...(undone.length === 0
      ? []
      : [
          `\noutrider: protected, and put back as before: ${inShort(undone.map(shown))}\n(what was written there is in ${setAside})\n`,
        ]),
    ...(failed.length === 0 ? [] : [`\noutrider: would run outside, and could not be put back: ${inShort(failed.map(shown))}\n`]),
    ...(listed.length === 0 ? [] : [await tellLater(listed, directory)]),
    ...(isWhole
      ? []
      : ["\noutrider: there are too many directories here to look at all of them; what is in the deepest may run outside.\n"]),
  ];
  return texts.join("");
}

async function tellLater(listed: readonly LaterFile[], directory: string): Promise<string> {
  const start = "\noutrider: this command changed what programs outside run by themselves";
  if (listed.length <= maxNames) return `${start}: ${listed.map(inWords).join(", ")}\n`;
  const groups = laterGroups.flatMap(({ title }, group) => {
    const files = listed.filter((file) => file.group === group);
    return files.length === 0 ? [] : [`- ${title}: ${inShort(files.map(inWords), maxOfGroup)}`];
  });
  const whole = join(directory, `run-later-${Date.now()}.txt`);
  const lines = listed.map((file) => `${inWords(file)}\n`).join("");
  const isKept = await keep(whole, lines);
  return [`${start}, ${listed.length} files:`, ...groups, ...(isKept ? [`(all of them are listed in ${whole})`] : []), ""].join(
    "\n",
  );
}

/** The disk may be full: the numbers are told all the same. */
async function keep(path: string, text: string): Promise<boolean> {
  try {
    makeFolder(dirname(path), 0o777);
    await writeFile(path, text, { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

function inWords({ name, scripts }: LaterFile): string {
  return scripts ? `${shown(name)} (scripts: ${inShort(scripts.map(shown))})` : shown(name);
}

function inShort(names: readonly string[], most = maxNames): string {
  const rest = names.length - most;
  return `${names.slice(0, most).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}

/** Names are a command's own words: no line of them can look like one of ours, and none fills the answer. */
function shown(name: string): string {
  const plain = name.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);
  return plain.length <= maxLetters ? plain : `${plain.slice(0, maxLetters / 2)}…${plain.slice(-maxLetters / 2)}`;
}
