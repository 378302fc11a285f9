import { readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeFolder } from "@outrider/runtime/host";
import { RuntimeError } from "@outrider/runtime";
import { isPluginName } from "@outrider/runtime/plugins";
import { exitCodes } from "../../exit-codes.ts";
import { print, visible } from "../../terminal/visible.ts";
import type { Desk } from "./install.ts";

/** Writes a plugin that loads as it is, into a folder in which there is nothing yet. */
export async function makePlugin(desk: Desk, folder: string): Promise<number> {
  const source = desk.toSource(/^[./]/.test(folder) ? folder : `./${folder}`);
  if (source.type !== "folder") throw new RuntimeError("usage", "init takes a folder");
  const { path } = source;
  const name = basename(path);
  if (!isPluginName(name))
    throw new RuntimeError("usage", `${visible(name)} is no name for a plugin: letters, digits and - only`);
  if (namesIn(path).length > 0) throw new RuntimeError("usage", `${visible(path)} is not empty; nothing was written`);
  for (const [file, text] of Object.entries(filesOf(name))) {
    makeFolder(dirname(join(path, file)), 0o777);
    writeFileSync(join(path, file), text, { flag: "wx" });
  }
  const lines = [`${path} holds the plugin ${name}`, `outrider -p "/${name}:hello" --plugin-dir ${path} uses it`];
  await print(`${lines.map(visible).join("\n")}\n`);
  return exitCodes.success;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []; // fs throws nothing else
    throw error;
  }
}

function filesOf(name: string): Record<string, string> {
  const manifest = { name, version: "0.1.0", description: "What this plugin is for" };
  return {
    ".claude-plugin/plugin.json": `${JSON.stringify(manifest, null, 2)}\n`,
    "skills/hello/SKILL.md":
      "---\ndescription: Says hello. Use it when somebody asks for a greeting.\n---\nSay hello to $ARGUMENTS.\n",
  };
}
