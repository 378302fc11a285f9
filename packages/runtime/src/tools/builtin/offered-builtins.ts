import { applyPatchTool } from "./apply-patch.ts";
import { editTool } from "./edit.ts";
import { notebookEditTool } from "./notebook-edit.ts";
import { writeTool } from "./write.ts";

const texts: readonly string[] = [editTool.name, writeTool.name];

/** `wanted` are names somebody has chosen, `taken` those that were taken away. */
type Choice = {
  /** The model was taught to change files by patches: it makes fewer mistakes with `apply_patch` than with other tools. */
  readonly knowsPatches: boolean;
  readonly wanted: readonly string[] | undefined;
  readonly taken: readonly string[];
  /** Somebody answers searches. */
  readonly searches: boolean;
};

const searchName = "WebSearch";

/**
 * Is a built-in tool offered? `apply_patch` takes the place of Edit and Write for models that know it, where both of them would be offered:
 * whoever names one of them wants that one, and whoever takes one away has not meant another that does the same, for notebooks neither.
 */
export function builtinsOffered({ knowsPatches, wanted, taken, searches }: Choice): (name: string) => boolean {
  const isNamed = (name: string): boolean => (wanted === undefined ? isUseful(name) : wanted.includes(name));
  const isUseful = (name: string): boolean => {
    if (name === notebookEditTool.name) return texts.every((text) => !taken.includes(text));
    return name !== searchName || searches;
  };
  const patch = applyPatchTool.name;
  if (wanted?.includes(patch)) return isNamed;
  const replaces = knowsPatches && texts.every((name) => isNamed(name) && !taken.includes(name)) && !taken.includes(patch);
  return (name) => (name === patch ? replaces : isNamed(name) && !(replaces && texts.includes(name)));
}
