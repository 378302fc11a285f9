import { basename, dirname } from "node:path";
import type { FoundProgram } from "./program-finder.ts";

/**
 * A program that the PATH finds may be a version manager by another name, which starts the copy that a file of the project names. The files
 * by which it chooses; `any` where those cannot be listed. Undefined: it is the program itself.
 */
export function filesOfManager({ file, real }: FoundProgram): readonly string[] | "any" | undefined {
  const manager = [basename(real), ...folderNames(real), ...folderNames(file)].find((name) => Object.hasOwn(managers, name));
  if (manager !== undefined) return managers[manager];
  return [file, real].some((path) => basename(dirname(path)) === "shims") ? "any" : undefined;
}

/** `~/.pyenv/shims/python` belongs to pyenv, `…/corepack/dist/yarn.js` to corepack. What a manager has installed is nobody's shim. */
function folderNames(path: string): string[] {
  const names = dirname(path)
    .split("/")
    .map((name) => name.replace(/^\./, ""));
  const isShim =
    names.at(-1) === "shims" || names.includes("corepack") || /\/\.?(?:volta|tfenv|aquaproj-aqua)\/bin$/.test(dirname(path));
  return isShim ? names : [];
}

const managers: Readonly<Record<string, readonly string[] | "any">> = {
  rustup: ["rust-toolchain", "rust-toolchain.toml"],
  elan: ["lean-toolchain", "leanpkg.toml"],
  volta: ["package.json"],
  "volta-shim": ["package.json"],
  corepack: ["package.json"],
  pyenv: [".python-version"],
  rbenv: [".ruby-version", ".rbenv-version"],
  nodenv: [".node-version", ".nvmrc", "package.json"],
  tfenv: [".terraform-version"],
  asdf: "any",
  mise: "any",
  rtx: "any",
  proto: "any",
  "proto-shim": "any",
  vfox: "any",
  "aqua-proxy": "any",
  swiftly: "any",
};
