import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { messageOf } from "../util/message-of.ts";
import { parseFrontmatter } from "./frontmatter.ts";
import { withoutHiddenText } from "./hidden-text.ts";
import { openInstructionFile } from "./instruction-file.ts";

/** How answers are written, as a file or we have it. */
export type OutputStyle = {
  readonly name: string;
  readonly description: string;
  readonly text: string;
  /** Our own words on how to work on code stay beside it. */
  readonly keepsCoding: boolean;
  /** The bundle it comes with wants it to count whatever was chosen. */
  readonly isForced: boolean;
  /** The file; absent for those that are built in. */
  readonly path?: string;
};

export type StyleFolder = {
  readonly path: string;
  /** Its files must really be below this one; absent for folders of the user. */
  readonly within?: string | undefined;
  /** The bundle whose name theirs begin with. */
  readonly plugin?: string | undefined;
};

export type FoundStyles = { readonly styles: readonly OutputStyle[]; readonly warnings: readonly string[] };

const maxFiles = 200;

/** The styles in these folders, the first of a name before others. A file that is wrong is told, and left out. */
export async function loadOutputStyles(folders: readonly StyleFolder[]): Promise<FoundStyles> {
  const warnings: string[] = [];
  const byName = new Map<string, OutputStyle>();
  for (const folder of folders)
    for (const name of markdownIn(folder.path)) {
      const style = await loadStyle(join(folder.path, name), folder, warnings);
      if (style && !byName.has(style.name)) byName.set(style.name, style);
    }
  return { styles: [...byName.values()], warnings };
}

/** By its name as it is written, else in any case; `default` is none. */
export function findStyle(styles: readonly OutputStyle[], name: string): OutputStyle | undefined {
  const all = [...styles, ...builtinStyles];
  const isSame = (style: OutputStyle): boolean => style.name.toLowerCase() === name.toLowerCase();
  return all.find((style) => style.name === name) ?? all.find(isSame);
}

const builtin = (name: string, description: string, text: string): OutputStyle => ({
  ...{ name, description, text: `# Style of answers: ${name}\n${text}`, keepsCoding: true, isForced: false },
});

export const builtinStyles: readonly OutputStyle[] = [
  builtin(
    "Concise",
    "As few words as the matter allows",
    "Answer in as few words as the matter allows: the result first, no introduction, no summary of what was said before, no offers. A list only where there are several things.",
  ),
  builtin(
    "Explanatory",
    "Says why, and what is to be learned of the code on the way",
    "While you work, say in two or three sentences why something is done this way and what the code around it teaches: a decision of its authors, a pattern, a trap. Such notes stand in your messages, never in files.",
  ),
  builtin(
    "Learning",
    "Leaves small, telling pieces for the reader to write",
    "The reader wants to learn. Where a piece of five to ten lines holds a real decision and nothing else waits for it, leave it open with a comment `TODO(you)`, say what has to be decided and what speaks for each way, and do everything else yourself. The work must build and its tests must run without the open pieces.",
  ),
  builtin(
    "Proactive",
    "Does what obviously comes next without being told",
    "When what was asked for is done, do what plainly belongs to it and could not be meant otherwise: tests for new behaviour, the documentation of what has changed, callers that no longer fit. Say at the end what you added by yourself.",
  ),
];

async function loadStyle(path: string, { within, plugin }: StyleFolder, warnings: string[]): Promise<OutputStyle | undefined> {
  const file = openInstructionFile(path, within);
  if (file.type === "absent") return undefined;
  if (file.type === "refused") return void warnings.push(`${path} was left out: ${file.reason}`);
  try {
    const { attributes, body } = await parseFrontmatter(withoutHiddenText(file.text).text, path);
    const { name, description } = attributes;
    const own = typeof name === "string" && name.trim() !== "" ? name.trim() : basename(path, ".md");
    return {
      name: plugin === undefined ? own : `${plugin}:${own}`,
      description: typeof description === "string" ? description.replace(/\s+/g, " ").trim() : "",
      text: body.trim(),
      keepsCoding: attributes["keep-coding-instructions"] === true,
      isForced: plugin !== undefined && attributes["force-for-plugin"] === true,
      path,
    };
  } catch (error) {
    return void warnings.push(`${messageOf(error)}; the style was left out`);
  }
}

function markdownIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".md"));
    return names.sort().slice(0, maxFiles);
  } catch {
    return []; // nearly nobody has all of these folders
  }
}
