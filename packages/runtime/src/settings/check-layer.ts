import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/content.ts";
import { nearest } from "../util/nearest.ts";
import { checkShape } from "./check-shape.ts";
import { claudeExecutors, claudeLimits, claudeModes, isClaudeChoice, isClaudeKey, toSandboxMode } from "./claude-keys.ts";
import { failAt, keyText, placeOf } from "./layer-error.ts";
import type { SettingsLayer } from "./layers.ts";
import type { Setting } from "./schema.ts";
import { type SchemaNode, schemaTree, settingsNamed } from "./schema-tree.ts";

/** One value of one file: what it sets, and where it is written. */
export type Leaf = {
  readonly setting: Setting;
  /** The setting's key with names filled in; `written` differs where Claude Code's name was used. */
  readonly path: readonly string[];
  readonly written: readonly string[];
  readonly value: JsonValue;
  readonly layer: SettingsLayer;
};

export type CheckedLayer = {
  readonly leaves: Leaf[];
  /** Keys of Claude Code that would start a program there, and do nothing here. */
  readonly executors: string[];
  readonly warnings: string[];
};

/**
 * Every value of a file, checked. A key that nobody knows is worth a warning; in our own files it is an error where it looks like a
 * slip, or stands among what forbids.
 */
export function checkLayer(layer: SettingsLayer): CheckedLayer {
  const checked: Checking = { leaves: [], executors: [], warnings: layer.note === undefined ? [] : [layer.note], unsaid: 0 };
  walk({ layer, checked, object: layer.values, node: schemaTree(), at: [] });
  refuseTwice(checked.leaves);
  if (checked.unsaid > 0) checked.warnings.push(`${layer.path}: and ${checked.unsaid} more like these`);
  return checked;
}

type Checking = CheckedLayer & { unsaid: number };

/** A file full of nonsense is worth a few lines, not a flood, and not the time to word one. */
function warn({ layer, checked }: Position, written: readonly string[], words: () => string): void {
  if (checked.warnings.length < 20) checked.warnings.push(`${placeOf(layer, written)}: ${words()}`);
  else checked.unsaid++;
}

type Position = {
  readonly layer: SettingsLayer;
  readonly checked: Checking;
  readonly object: JsonObject;
  readonly node: SchemaNode;
  readonly at: readonly string[];
};

function walk(position: Position): void {
  for (const [name, value] of Object.entries(position.object)) visit(position, name, value);
}

function visit(position: Position, name: string, value: JsonValue): void {
  const { layer, node } = position;
  const written = [...position.at, name];
  const key = written.join(".");
  const next = node.children.get(name) ?? node.named;
  if (key === "$schema" || (isClaudeChoice(key) && (layer.dialect === "claude" || (layer.scope === "flag" && !next?.setting))))
    return;
  if (isClaudeKey(key) && (layer.dialect === "claude" || (layer.scope === "flag" && !next?.setting)))
    return noteClaudeKey(position, key);
  if (!next) return refuseUnknown(position, name);
  if (key === "sandbox" && typeof value === "string") return visit({ ...position, at: ["sandbox"], node: next }, "mode", value);
  if (next.setting) return take(position, { setting: next.setting, path: next.aliasOf ?? written, written, value, layer });
  if (!isJsonObject(value)) failAt(layer, written, `${keyText(written)} must be an object`);
  else if (next === node.named && Object.keys(value).length === 0) failAt(layer, written, `${keyText(written)} is empty`);
  else walk({ ...position, object: value, node: next, at: written });
}

function take(position: Position, leaf: Leaf): void {
  const { layer, checked, object } = position;
  const { setting, written, value } = leaf;
  if (layer.dialect === "claude" && setting.key === "permissions.defaultMode" && claudeModes.has(value))
    return warn(position, written, () => `there is no permission mode ${JSON.stringify(value)} here; it has no effect`);
  if (written.join(".") !== "sandbox.enabled") {
    checkShape(leaf);
    checked.leaves.push(leaf);
    return;
  }
  if (typeof value !== "boolean") failAt(layer, written, "sandbox.enabled must be true or false");
  checked.leaves.push({ ...leaf, value: toSandboxMode(value === true, object) });
}

function noteClaudeKey(position: Position, key: string): void {
  const { layer, checked, at } = position;
  const written = key.split(".");
  const isOwn = layer.scope === "user" || layer.scope === "flag";
  if (key === "apiKeyHelper" && isOwn) return; // the user's own program: see `claude-choices.ts`
  if (claudeExecutors.has(key)) checked.executors.push(key);
  if (claudeLimits.has(key))
    warn(position, written, () => `${key} forbids something in Claude Code that Outrider does not enforce`);
  else if (layer.scope === "flag" && at.length === 0) warn(position, written, () => `${key} has no effect here`);
}

function refuseUnknown(position: Position, name: string): void {
  const { layer, node, at } = position;
  const written = [...at, name];
  if (at.length === 0 && /^[$@_]?(?:include|extend|import)s?$/i.test(name))
    failAt(layer, written, `${name} is refused: settings do not take in other files`);
  if (layer.dialect === "claude")
    return warn(position, written, () => unknownWords(written, node, " It has no effect", "; it has no effect"));
  const key = written.join(".");
  if (isClaudeKey(key) && !claudeLimits.has(key) && !forbidding.has(at[0] ?? ""))
    return warn(position, written, () => `${key} is a setting of Claude Code that has no effect here`);
  if (isClaudeKey(key)) failAt(layer, written, `${key} is a setting of Claude Code that Outrider does not support`);
  if (!forbidding.has(at[0] ?? "") && guessFor(name, node) === undefined)
    return warn(position, written, () => unknownWords(written, node, "", "; it has no effect"));
  const known = `. Known ${at.length === 0 ? "" : `in ${at.join(".")} `}are: ${namesIn(node).join(", ")}`;
  failAt(layer, written, unknownWords(written, node, "", known));
}

/** Where a word that is not understood may have been meant to forbid something. */
const forbidding: ReadonlySet<string> = new Set(["permissions", "sandbox"]);

function unknownWords(written: readonly string[], node: SchemaNode, afterGuess: string, withoutGuess: string): string {
  const guess = guessFor(written.at(-1) ?? "", node);
  return `there is no setting "${keyText(written)}"${guess ? `; did you mean ${guess}?${afterGuess}` : withoutGuess}`;
}

/** The nearest name in the same object, or the place where a setting of this name belongs. */
function guessFor(name: string, node: SchemaNode): string | undefined {
  if (name.length > 60) return undefined; // like nothing, and long to compare
  return settingsNamed(name)[0] ?? nearest(name, namesIn(node));
}

function namesIn(node: SchemaNode): string[] {
  return [...node.children].filter(([, child]) => child.own).map(([name]) => name);
}

/** `sandbox.mode` and `sandbox.enabled` in one file would both want to be heard. */
function refuseTwice(leaves: readonly Leaf[]): void {
  const seen = new Map<string, Leaf>();
  for (const leaf of leaves) {
    const key = JSON.stringify(leaf.path);
    const other = seen.get(key);
    if (other) failAt(leaf.layer, leaf.written, `${keyText(leaf.written)} and ${keyText(other.written)} mean the same; keep one`);
    seen.set(key, leaf);
  }
}
