import { RuntimeError } from "@outrider/runtime";
import { explainCall, lintRule, presetNames, type RuleProblem, rulesOfPreset, unknownPreset } from "@outrider/runtime/admin";
import { exitCodes } from "../../exit-codes.ts";
import { parseArguments } from "../../flags/args.ts";
import { type OwnWords, takeOwnWords } from "../../flags/words.ts";
import { surroundings } from "../../request/plan-run.ts";
import { lookAtProject, type Project } from "../../request/project.ts";
import { toSessionRequest } from "../../request/session-request.ts";
import { print, visible } from "../../terminal/visible.ts";

const projectFlags = { switches: ["--trust-project", "--json"], values: ["--cwd", "--settings", "--setting-sources"] };

/** The decision about one call, as a session with these flags would make it. */
export async function explain(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, { switches: ["--json"], values: [] });
  const { flags, positionals } = parseArguments(words.rest);
  const [call, ...more] = positionals;
  if (call === undefined || more.length > 0)
    throw new RuntimeError("usage", 'permissions explain takes one call, like "Bash(git push)"; see outrider permissions --help');
  const request = await toSessionRequest(flags, warn);
  const { project, mode, ...decision } = await explainCall(request, call, { around: surroundings(), warn });
  const { effect, reason, rule, source, programs, changes, place, doubt } = decision;
  const { trusted, reason: why, executors } = await project.trust();
  const trust = executors.length > 0 ? `${trusted ? "trusted" : "not trusted"} (${why})` : undefined;
  if (words.has("--json")) return await say(`${JSON.stringify({ ...decision, mode, trusted }, null, 2)}\n`);
  const lines = [
    ["decision", effect],
    ["reason", reason],
    [effect === "ask" ? "would be allowed by" : "rule", rule],
    ["written in", source],
    ["runs", programs?.join(" · ")],
    ["changes", changes?.join(" · ")],
    [
      "place",
      place && (place === "box" ? "the sandbox" : `outside, as the user${effect === "ask" ? ", once somebody says yes" : ""}`),
    ],
    ["not understood", doubt],
    ["project", trust],
  ];
  return await say(lines.flatMap(([name, value]) => (value ? [`${name}: ${visible(value)}\n`] : [])).join(""));
}

function warn(line: string): void {
  process.stderr.write(`outrider: ${visible(line)}\n`);
}

async function projectOf(words: OwnWords): Promise<Project> {
  return await lookAtProject({
    cwd: words.value("--cwd"),
    settings: words.value("--settings"),
    settingSources: words.value("--setting-sources"),
    trustProject: words.has("--trust-project"),
  });
}

/** Rules that were given, or all there are in the settings files. */
export async function lint(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, projectFlags);
  const given = words.rest.map((text) => ({ text, allowing: true, place: "" }));
  const rules = given.length > 0 ? given : rulesIn(await projectOf(words));
  const denied = new Map(rules.flatMap(({ text, allowing, place }) => (allowing ? [] : [[text, place] as const])));
  const problems = rules.flatMap(({ text, allowing, place }) => {
    const over = allowing ? denied.get(text) : undefined;
    const found: RuleProblem[] = lintRule(text, allowing);
    const all =
      over === undefined ? found : [...found, { level: "warning" as const, message: `It never counts: ${over} says otherwise` }];
    return all.map((problem) => ({ rule: text, place, ...problem }));
  });
  if (words.has("--json")) await print(`${JSON.stringify(problems, null, 2)}\n`);
  else if (problems.length === 0) await print(`No problems${given.length > 0 ? "" : ` in ${rules.length} rules`}\n`);
  for (const { rule, place, level, message } of words.has("--json") ? [] : problems)
    await print(`${visible(`${place && `${place}: `}${level}: ${rule}: ${message}`)}\n`);
  return problems.some(({ level }) => level === "error") ? exitCodes.error : exitCodes.success;
}

/** What presets stand for, rule by rule; without names, what there is. */
export async function showPresets(args: readonly string[]): Promise<number> {
  const words = takeOwnWords(args, { switches: ["--json"], values: [] });
  for (const name of words.rest) {
    const problem = unknownPreset(name);
    if (problem !== undefined) throw new RuntimeError("usage", problem);
  }
  const shown = words.rest.length > 0 ? words.rest : presetNames;
  const presets = Object.fromEntries(shown.map((name) => [name, rulesOfPreset(name) ?? []]));
  if (words.has("--json")) return await say(`${JSON.stringify(presets, null, 2)}\n`);
  if (words.rest.length > 0)
    return await say(
      Object.values(presets)
        .flatMap((rules) => rules.map((rule) => `${rule}\n`))
        .join(""),
    );
  const lines = Object.entries(presets).map(
    ([name, rules]) => `${name.padEnd(10)}${String(rules.length).padStart(4)} rules, such as ${rules.slice(0, 2).join(", ")}\n`,
  );
  return await say(`${lines.join("")}All of one: outrider permissions presets NAME\n`);
}

type WrittenRule = { readonly text: string; readonly allowing: boolean; readonly place: string };

/** Also those of a project that is not trusted: people want to know before they trust it. */
function rulesIn({ layers }: Project): WrittenRule[] {
  return layers.flatMap(({ values, path, lineOf }) =>
    ["allow", "ask", "deny"].flatMap((list) => {
      const { permissions } = values;
      const rules =
        typeof permissions === "object" && permissions !== null && !Array.isArray(permissions) ? permissions[list] : undefined;
      return (Array.isArray(rules) ? rules : []).map((rule, at) => {
        const line = lineOf(["permissions", list, at]);
        const text = typeof rule === "string" ? rule : JSON.stringify(rule);
        return { text, allowing: list === "allow", place: line === undefined ? path : `${path}:${line}` };
      });
    }),
  );
}

async function say(text: string): Promise<number> {
  await print(text);
  return exitCodes.success;
}
