import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runForCpu } from "./children.mjs";
import { summarize } from "./statistics.mjs";

const many = 1_000;
export const skillRows = ["skills-first", "skills-known", "skills-project"];

const rows = {
  "skills-first": {
    what: `processor time of a run with ${many} skills that nobody has read yet, beyond one without`,
    target: 60,
  },
  "skills-known": { what: "the same where an earlier run has read them", target: 20 },
  "skills-project": { what: "the same for skills of the project", target: 20 },
};

/** Processor time of a run with many skills, beyond that of a run with none. The three ways are taken in turn with the floor. */
export async function measureSkills({ contestants, model, quick, isWanted }) {
  const numbers = { floor: [], "skills-first": [], "skills-known": [], "skills-project": [] };
  const { cwd, env } = contestants.settings("");
  const home = join(env.OUTRIDER_HOME, "skills");
  const project = join(cwd, ".claude", "skills");
  const index = join(env.OUTRIDER_HOME, "cache", "skills");
  const run = async () => {
    const url = await model.play("answer");
    return (await runForCpu(contestants.commands.ours("text", url), contestants.settings(url))).cpuMs;
  };
  const clean = () => {
    for (const folder of [home, project, index]) rmSync(folder, { recursive: true, force: true });
  };
  for (let round = 0; round <= (quick ? 3 : 15); round++) {
    const taken = {};
    clean();
    taken.floor = await run();
    writeSkills(home);
    taken["skills-first"] = await run();
    taken["skills-known"] = await run();
    clean();
    writeSkills(project);
    await run();
    taken["skills-project"] = await run();
    if (round > 0) for (const [name, ms] of Object.entries(taken)) numbers[name].push(ms);
  }
  clean();
  const floor = summarize(numbers.floor);
  return skillRows.filter(isWanted).map((name) => {
    const ours = summarize(numbers[name]);
    const beyond = ours.median - floor.median;
    return { name, ...rows[name], unit: "ms", ours: { ...ours, median: beyond }, ok: beyond <= rows[name].target };
  });
}

function writeSkills(folder) {
  for (let at = 0; at < many; at++) {
    const own = join(folder, `skill-${at}`);
    mkdirSync(own, { recursive: true });
    const head = [
      `name: skill-${at}`,
      `description: Does the work of number ${at}, when somebody asks for it by its number or its name`,
    ];
    writeFileSync(
      join(own, "SKILL.md"),
      `---\n${head.join("\n")}\n---\n\n# Work ${at}\n\n${"Do this, then that, and tell what was done.\n".repeat(40)}`,
    );
  }
}
