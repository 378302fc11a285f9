import { realpathSync } from "node:fs";
import { type ReadCheck, toTextCheck } from "../permissions/read-check.ts";
import { anchorRule, parseRule, type Rule } from "../permissions/rules.ts";
import type { SessionOptions } from "../session/session-options.ts";

/** Which files the rules of a session keep from the model, before there is a session; undefined where they keep none. */
export function readCheckOf({ cwd, home, permissions = {}, disallowedTools = [] }: SessionOptions): ReadCheck | undefined {
  const { root: top = cwd, otherRoot, deny = [], ask = [] } = permissions;
  const tops = otherRoot === undefined ? [top] : [top, otherRoot];
  const anchored = (written: typeof deny): Rule[] =>
    tops.flatMap((folder) => written.map(({ text, source }) => anchorRule(parseRule(text, source), folder)));
  return toTextCheck({
    ...{ mode: "default", allow: [], ask: anchored(ask) },
    deny: [...disallowedTools.map((text) => parseRule(text)), ...anchored(deny)],
    base: { root: realOf(cwd), home, platform: process.platform },
  });
}

/** The folder may be on another machine. */
function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
