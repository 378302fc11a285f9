import { RuntimeError } from "../protocol/errors.ts";
import { nearest } from "../util/nearest.ts";
import { createSecretHider } from "./hide-secrets.ts";
import { keyText } from "./layer-error.ts";
import type { MergedSetting } from "./merge.ts";
import { settingsSchema } from "./schema.ts";
import { settingsNamed } from "./schema-tree.ts";
import type { Provenance } from "./settings.ts";
import { defined } from "../util/defined.ts";

/** What holds and who says so: every setting that a file names, or all there are at and below `key`. */
export function explainSettings(merged: readonly MergedSetting[], key?: string): Provenance[] {
  const hide = createSecretHider();
  const toProvenance = (one: MergedSetting): Provenance => describe(one, hide);
  if (key === undefined) return merged.map(toProvenance);
  const found = merged.filter(({ path }) => isAtOrBelow(path.join("."), key)).map(toProvenance);
  const silent = settingsSchema.filter(
    (setting) => !found.some((one) => one.key === setting.key) && isAtOrBelow(setting.key, key),
  );
  const unsaid = silent
    .filter((setting) => !setting.key.includes("*"))
    .map((setting): Provenance => ({ key: setting.key, value: setting.default, from: [] }));
  if (found.length === 0 && unsaid.length === 0 && !couldBe(key)) throw unknownKey(key);
  return [...found, ...unsaid];
}

function describe({ path, value, contributions }: MergedSetting, hide: ReturnType<typeof createSecretHider>): Provenance {
  return {
    key: keyText(path),
    value: value === undefined ? undefined : hide(path, value),
    from: contributions.map(({ leaf, verdict, why }) => {
      const line = leaf.layer.lineOf(leaf.written);
      return {
        path: leaf.layer.path,
        ...defined({ line }),
        scope: leaf.layer.scope,
        value: hide(leaf.path, leaf.value),
        verdict,
        ...defined({ why }),
      };
    }),
  };
}

function isAtOrBelow(key: string, top: string): boolean {
  return key === top || key.startsWith(`${top}.`);
}

/** `env.MY_VARIABLE` is a key although no file has it. */
function couldBe(key: string): boolean {
  return settingsSchema.some(({ key: pattern }) => {
    const [before = "", after = ""] = pattern.split("*");
    return pattern.includes("*") && (key === before.slice(0, -1) || (key.startsWith(before) && fits(key, before, after)));
  });
}

function fits(key: string, before: string, after: string): boolean {
  const name = key.slice(before.length);
  return name.endsWith(after) || !name.includes(".");
}

function unknownKey(key: string): RuntimeError {
  const keys = settingsSchema.map((setting) => setting.key);
  const tops = [...new Set(keys.map((one) => one.split(".")[0] ?? one))];
  const guess = settingsNamed(key)[0] ?? nearest(key, [...keys, ...tops]);
  return new RuntimeError(
    "usage",
    `There is no setting ${JSON.stringify(key)}${guess ? `; did you mean ${guess}?` : `. Known are: ${tops.join(", ")}`}`,
  );
}
