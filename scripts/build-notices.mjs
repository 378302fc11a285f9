import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const noticesFile = "THIRD-PARTY-NOTICES.txt";

/** What may be handed on as part of another program under its own short text. */
const permissive = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"];

/** The licences of the packages whose code is in a build, as they ask for. Throws for one whose licence is not known. */
export function thirdPartyNotices(metafile, root) {
  const sections = [...bundledPackages(metafile), ...dataPackages(metafile)]
    .sort()
    .map((place) => notice(join(root, place), root));
  return `${["This package contains code of others, under these licences.", ...sections].join(`\n\n${"-".repeat(80)}\n`)}\n`;
}

/** Places of packages relative to the root, one of which may lie in another's node_modules. Only what is left after tree shaking counts. */
export function bundledPackages({ outputs }) {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  const places = inputs.flatMap(([path, { bytesInOutput }]) => {
    const place = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0];
    return place && bytesInOutput > 0 ? [place] : [];
  });
  return [...new Set(places)].sort();
}

/** Packages of which no code is in a build, but what they know. */
function dataPackages({ outputs }) {
  const has = (source) => Object.values(outputs).some(({ inputs }) => inputs[source]?.bytesInOutput > 0);
  return has("packages/runtime/src/model/catalog-data.ts") ? ["node_modules/@pydantic/genai-prices"] : [];
}

function notice(folder, root) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (!permissive.includes(license)) throw new Error(`${name} is under ${license}: may its code be in our packages?`);
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)\b/i.test(file));
  const texts = files.sort().map((file) => readFileSync(join(folder, file), "utf8").trim());
  if (!files.some((file) => /^lic/i.test(file))) texts.unshift(wordsOfMit({ name, license, author, root }));
  return [`${name} ${version} (${license})`, ...texts].join("\n\n");
}

/** For a package that names its licence and brings no text: the words are the same for everybody but for who holds the rights. */
function wordsOfMit({ name, license, author, root }) {
  if (license !== "MIT" || !author) throw new Error(`${name} has no file with its licence`);
  const holder = (author.name ?? author).replace(/ *[<(].*/, "");
  return readFileSync(join(root, "LICENSE"), "utf8")
    .trim()
    .replace(/^Copyright .*$/m, `Copyright (c) ${holder}`);
}
