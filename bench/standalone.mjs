import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { ownPlatform } from "../scripts/standalone/platforms.mjs";
import { scenes } from "./scenes.mjs";

const root = dirname(import.meta.dirname);
const prefix = "standalone-";
/** The most that the standalone command may take of the same floor, a bare script on Node. */
const targets = { "first-request": 0.75, "one-answer": 0.75, "memory-answer": 1.7, parallel: 0.8 };
/** Bun alone is 107 MB on Linux. */
const sizeTargetMb = 100;

/** Undefined where there is none for this machine. */
export function standaloneFile() {
  const platform = ownPlatform();
  return platform && join(root, `dist/standalone/outrider-${platform.name}`);
}

/** Scenes of the command once more, played by the standalone one; skipped where it was not built. */
export const standaloneScenes = scenes
  .filter(({ rows, sides }) => !sides && Object.keys(rows).every((name) => name in targets))
  .map((scene) => ({
    ...scene,
    sides: { floor: "floor", ours: "standalone" },
    available: () => whyMissing() ?? scene.available?.(),
    rows: Object.fromEntries(
      Object.entries(scene.rows).map(([name, row]) => [
        `${prefix}${name}`,
        { ...row, what: `standalone: ${row.what}`, target: targets[name] },
      ]),
    ),
    async measure(stage) {
      const measured = Object.entries(await scene.measure(stage));
      return Object.fromEntries(measured.map(([name, value]) => [`${prefix}${name}`, value]));
    },
  }));

export function measureStandaloneSize() {
  const row = { name: `${prefix}size`, what: "standalone: the file", unit: "MB", target: sizeTargetMb };
  const skipped = whyMissing();
  if (skipped) return { ...row, skipped };
  const megabytes = statSync(standaloneFile()).size / 1e6;
  return { ...row, ours: { median: megabytes, spread: 0, values: [megabytes] }, ok: megabytes <= sizeTargetMb };
}

function whyMissing() {
  const file = standaloneFile();
  return file && existsSync(file) ? undefined : "needs npm run build:standalone";
}
