// The licences of what is in the standalone command: those of the build, of Bun, and of ripgrep.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { noticesFile } from "../build-notices.mjs";
import { root } from "../bundle-options.mjs";
import { fetchPackage } from "../standalone/fetch-package.mjs";
import { ownPlatform } from "../standalone/platforms.mjs";

const line = "-".repeat(80);

export function standaloneNotices() {
  const { bun, ripgrep } = ownPlatform();
  const built = readFileSync(join(root, "packages/cli/dist", noticesFile), "utf8").trimEnd();
  const mit = readFileSync(join(root, "LICENSE"), "utf8").trim();
  const ofRipgrep = readFileSync(join(fetchPackage(ripgrep), "LICENSE"), "utf8").trim();
  return [
    built,
    `${line}\nbun ${bun.version} (MIT)\n\n${mit.replace(/^Copyright .*$/m, "Copyright (c) Oven and the contributors of Bun")}\n\nBun links JavaScriptCore and WTF of WebKit (LGPL-2.1) and further libraries statically. Which they are, under which\nlicences, and how to link it with others is told at https://bun.com/docs/project/license; its sources, and those of its WebKit,\nare at https://github.com/oven-sh.`,
    `${line}\n${ripgrep.name} ${ripgrep.version} (MIT)\n\n${ofRipgrep}`,
    "",
  ].join("\n\n");
}

/** Name, version and licence of each, from the headings of such a text. */
export function namesInNotices(text) {
  const sections = text.split(`\n${line}\n`).slice(1);
  return sections.map((section) => {
    const [, name, version, licence] = /^(\S+) (\S+) \((.+)\)\n/.exec(section) ?? [];
    if (!name) throw new Error(`A heading that tells nothing: ${section.slice(0, 80)}`);
    return { name, version, licence };
  });
}
