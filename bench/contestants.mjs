import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { runChild } from "./children.mjs";
import { historyFileBytes, historyFiles } from "./scripts.mjs";
import { standaloneFile } from "./standalone.mjs";
import { wires } from "./wires.mjs";

const root = dirname(import.meta.dirname);

/**
 * The two that are compared, in a folder of their own: a copy of the built command, so that a build in the middle of a run changes nothing,
 * and the floor, which sends the very request that the command sent.
 */
export async function prepareContestants({ node, model, wire }) {
  const folder = mkdtempSync(join(tmpdir(), "outrider-bench-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const project = join(folder, "project");
    const requestFile = join(folder, "request.json");
    const program = install(join(folder, "outrider"));
    const env = environment({ folder, node });
    const settings = (url) => ({ cwd: project, env: { ...env, ...wires[wire].variables(url) } });
    const flags = ["-p", "Do what you were told.", "--allowedTools", "Bash", "--sandbox"];
    // Deltas are what stream-json is measured by.
    const output = { text: [], "stream-json": ["--include-partial-messages", "--output-format", "stream-json"] };
    const commands = {
      floor: (format, url) => floorCommand({ node, wire, requestFile, folder, format, url }),
      // The floor has no sandbox either.
      ours: (format) => [node, program, ...flags, "off", ...output[format]],
      standalone: (format) => [standaloneFile(), ...flags, "off", ...output[format]],
      boxed: (format) => [node, program, ...flags, "require", ...output[format]],
    };
    writeProject(project);
    mkdirSync(env.OUTRIDER_HOME, { recursive: true });
    const own = { ...wires[wire].settings, compaction: { enabled: false } }; // the floor does not summarise
    writeFileSync(join(env.OUTRIDER_HOME, "settings.json"), JSON.stringify(own));
    await runChild(commands.ours("text"), settings(await model.play("answer")));
    writeFileSync(requestFile, JSON.stringify((await model.seen()).firstRequest));
    return { commands, settings, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function floorCommand({ node, wire, requestFile, folder, format, url }) {
  const file = (name) => join(import.meta.dirname, name);
  if (wire === "anthropic") return [node, file("floor.mjs"), requestFile, join(folder, "journal.jsonl"), format];
  return [node, file("floor-answer.mjs"), requestFile, wire, format, url];
}

/** Returns the file that Node runs. */
function install(folder) {
  const { bin } = JSON.parse(readFileSync(join(root, "packages/cli/package.json"), "utf8"));
  for (const part of ["bin", "dist", "package.json"]) {
    cpSync(join(root, "packages/cli", part), join(folder, part), { recursive: true });
  }
  return join(folder, bin.outrider);
}

function writeProject(project) {
  mkdirSync(project, { recursive: true });
  const line = "The quick brown fox jumps over the lazy dog, and nobody has ever asked it why.\n";
  const text = line.repeat(Math.floor(historyFileBytes / line.length));
  for (let index = 0; index < historyFiles; index++) writeFileSync(join(project, `history-${index}.txt`), text);
  writeFileSync(join(project, "small.txt"), "One line.\n");
}

/** As little as possible of this machine: no settings of the user, no proxies, no NODE_EXTRA_CA_CERTS (50 ms per start on Node 20). */
function environment({ folder, node }) {
  return {
    PATH: [dirname(node), process.env.PATH].join(delimiter),
    LANG: process.env.LANG ?? "C.UTF-8",
    HOME: folder,
    TMPDIR: folder,
    OUTRIDER_HOME: join(folder, "home"),
  };
}
