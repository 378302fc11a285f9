import { existsSync, lstatSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { makeFolder } from "@outrider/runtime/host";
import { RuntimeError } from "@outrider/runtime";
import { exitCodes } from "../../exit-codes.ts";
import { parseOwnWords } from "../../flags/words.ts";
import { lookAtProject } from "../../request/project.ts";
import { print, visible } from "../../terminal/visible.ts";
import { type Survey, surveyProject } from "./survey.ts";
import { githubRecipe, gitlabRecipe, toInstructions, toSettings } from "./texts.ts";

declare const OUTRIDER_VERSION: string;

const usage = `Usage:
  outrider init [--ci github|gitlab|none] [--dry-run] [--json] [--cwd DIR]
                                          write AGENTS.md and .outrider/settings.json based on the project (package managers,
                                          tests, checks), and a CI job that reviews changes; changes no existing file and
                                          asks no questions
    --ci PLATFORM                         the platform of the CI job; by default detected from files and the git remote
    --dry-run                             write nothing, only show what would be written
`;

type Planned = { readonly path: string; readonly text: string; readonly covered?: string | undefined };
/** `there`: left alone, because this or `by` is there already. */
type Written = {
  readonly path: string;
  readonly state: "written" | "would be written" | "there";
  readonly by?: string | undefined;
};

/** The files with which a project begins. Never changes one that exists. */
export async function runInit(args: readonly string[]): Promise<number> {
  const words = parseOwnWords(args, {
    command: "init",
    usage,
    switches: ["--dry-run", "--json", "--help", "-h"],
    values: ["--ci", "--cwd"],
  });
  if (words.has("--help") || words.has("-h")) {
    await print(usage);
    return exitCodes.success;
  }
  const { root } = await lookAtProject({ cwd: words.value("--cwd"), settingSources: "" });
  const survey = surveyProject(root);
  const platform = platformFor(words.value("--ci"), survey);
  const isDry = words.has("--dry-run");
  const planned = plan(root, { survey, platform });
  const files = planned.map((file) => settle(root, { file, isDry }));
  if (words.has("--json")) await print(`${JSON.stringify({ root, survey, files }, null, 2)}\n`);
  else await print(report({ root, survey, files, platform }) + (isDry ? shownTexts(planned, files) : ""));
  return exitCodes.success;
}

type Platform = "github" | "gitlab" | undefined;

const keyPlaces = {
  github: "a secret ANTHROPIC_API_KEY of the repository",
  gitlab: "a masked variable ANTHROPIC_API_KEY in the CI/CD settings of the project",
};

function platformFor(word: string | undefined, survey: Survey): Platform {
  if (word === undefined) return survey.platform;
  if (word === "github" || word === "gitlab") return word;
  if (word === "none") return undefined;
  throw new RuntimeError("usage", `--ci cannot be ${JSON.stringify(word)}; it takes github, gitlab or none`);
}

/** Where another file says the same already, that one counts. */
function plan(root: string, { survey, platform }: { survey: Survey; platform: Platform }): Planned[] {
  const present = (...names: string[]): string | undefined => names.find((name) => existsSync(join(root, name)));
  const recipes: Planned[] =
    platform === "github"
      ? [{ path: ".github/workflows/outrider.yml", text: githubRecipe(OUTRIDER_VERSION) }]
      : platform === "gitlab"
        ? [
            { path: ".gitlab/outrider.yml", text: gitlabRecipe(OUTRIDER_VERSION) },
            { path: ".gitlab-ci.yml", text: "include:\n  - local: .gitlab/outrider.yml\n" },
          ]
        : [];
  return [
    { path: "AGENTS.md", text: toInstructions(survey), covered: present("CLAUDE.md", ".claude/CLAUDE.md") },
    { path: ".outrider/settings.json", text: toSettings(survey), covered: present(".claude/settings.json") },
    ...recipes,
  ];
}

function settle(root: string, { file, isDry }: { file: Planned; isDry: boolean }): Written {
  const { path, text, covered } = file;
  if (covered !== undefined) return { path, state: "there", by: covered };
  if (isThere(join(root, path))) return { path, state: "there" };
  if (isDry) return { path, state: "would be written" };
  return { path, state: write(root, path, text) ? "written" : "there" };
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined; // a link to nowhere is there too
}

/** False when somebody else was faster. A folder of the project that leads out of it is not followed. */
function write(root: string, path: string, text: string): boolean {
  const target = join(root, path);
  try {
    makeFolder(dirname(target), 0o777);
    const folder = realpathSync(dirname(target));
    const top = realpathSync(root);
    if (folder !== top && !folder.startsWith(top + sep))
      throw new RuntimeError("config", `${path} is not written: its folder leads out of the project, to ${folder}`);
    writeFileSync(target, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (error instanceof RuntimeError) throw error;
    const { code, message } = error as NodeJS.ErrnoException; // of node:fs
    if (code === "EEXIST") return false;
    throw new RuntimeError("config", `${path} cannot be written: ${message}`);
  }
}

function report({
  root,
  survey,
  files,
  platform,
}: {
  root: string;
  survey: Survey;
  files: readonly Written[];
  platform: Platform;
}): string {
  const { managers, commands } = survey;
  const lines = [
    `Project: ${root}`,
    `Found:   ${managers.join(", ") || "no package manager"}${commands.length > 0 ? `; ${commands.map(({ command }) => command).join(", ")}` : ""}`,
    ...files.map(
      ({ path, state, by }) =>
        `  ${(state === "there" ? "there already" : state).padEnd(16)} ${path}${by === undefined ? "" : ` (${by} is read)`}`,
    ),
  ];
  const isThereAll = files.every(({ state }) => state === "there");
  const next = [
    ...(platform === undefined ? ["A CI job: outrider init --ci github, or --ci gitlab"] : []),
    ...(platform === "gitlab" && files.some(({ path, state }) => path === ".gitlab-ci.yml" && state === "there")
      ? ["Add to .gitlab-ci.yml, unless it is there:  include: [{ local: .gitlab/outrider.yml }]"]
      : []),
    ...(platform === undefined || isThereAll ? [] : [`Give the CI job a key: ${keyPlaces[platform]}`]),
    "Let the project's allow rules count here: outrider trust",
    "See what works: outrider doctor",
  ];
  return [...lines, "Next:", ...next.map((line) => `  ${line}`)].map((line) => `${visible(line)}\n`).join("");
}

function shownTexts(planned: readonly Planned[], files: readonly Written[]): string {
  return planned
    .filter((_, index) => files[index]?.state === "would be written")
    .map(({ path, text }) => `\n--- ${path}\n${text}`)
    .join("");
}
