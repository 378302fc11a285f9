import { claudeNames } from "./claude-keys.ts";
import { type Setting, settingsSchema } from "./schema.ts";

/** The schema as the tree that a file's objects are walked along with. */
export type SchemaNode = {
  readonly children: Map<string, SchemaNode>;
  /** What stands under any name: `*` in a key. */
  named?: SchemaNode;
  setting?: Setting;
  /** Written under Claude Code's name; the path it stands for. */
  aliasOf?: readonly string[];
  /** A name of ours, or on the way to one: worth suggesting. */
  own: boolean;
};

let tree: SchemaNode | undefined;

export function schemaTree(): SchemaNode {
  tree ??= build();
  return tree;
}

/** The keys that end in this name: where something belongs that was written in the wrong place. */
export function settingsNamed(name: string): string[] {
  return settingsSchema.map(({ key }) => key).filter((key) => !key.includes("*") && key.endsWith(`.${name}`));
}

function build(): SchemaNode {
  const root = emptyNode();
  for (const setting of settingsSchema) {
    const node = grow(root, setting.key, true);
    node.setting = setting;
  }
  for (const [written, key] of [...claudeNames, ["sandbox.enabled", "sandbox.mode"] as const]) {
    const setting = settingsSchema.find((candidate) => candidate.key === key);
    const node = grow(root, written, false);
    if (setting) Object.assign(node, { setting, aliasOf: key.split(".") });
  }
  return root;
}

function grow(root: SchemaNode, key: string, own: boolean): SchemaNode {
  let node = root;
  for (const name of key.split(".")) {
    let next = name === "*" ? node.named : node.children.get(name);
    if (!next) {
      next = emptyNode();
      if (name === "*") node.named = next;
      else node.children.set(name, next);
    }
    if (own) next.own = true;
    node = next;
  }
  return node;
}

function emptyNode(): SchemaNode {
  return { children: new Map(), own: false };
}
