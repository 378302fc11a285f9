import type { Policy } from "../../permissions/policy.ts";
import type { ListingLimits } from "../../commands/skills/describe-skills.ts";
import type { FoundSkills, Skill } from "../../commands/skills/skill.ts";
import type { SkillsOfFiles } from "../../context/nested-state.ts";
import { offeredSkills, typedSkills } from "../../commands/skills/listing.ts";

/** The skills and commands in files that a session has. */
export type SkillOptions = {
  readonly found: readonly Skill[];
  /** Does what the project's files loosen or run count? */
  readonly trusted: () => Promise<boolean>;
  /** Those the model may use by itself; all when absent. What people type is not held to it. */
  readonly only?: readonly string[] | undefined;
  /** How much of them the model is told. */
  readonly listing?: ListingLimits | undefined;
  /** None of their commands runs. */
  readonly withoutCommands?: boolean | undefined;
  /** Those of a folder below the working directory, which count once a file there is touched. */
  readonly below?: ((folder: string) => Promise<FoundSkills>) | undefined;
  /** Looks again. */
  readonly reload?: (() => Promise<FoundSkills>) | undefined;
};

type Lists = { readonly of: readonly Skill[]; readonly typed: readonly Skill[]; readonly offered: readonly Skill[] };

/** As they are now: a host may have them looked for again. */
export class SessionSkills {
  readonly #options: SkillOptions | undefined;
  #found: readonly Skill[];
  /** Once they were looked for again. */
  #plugins: readonly Skill[] | undefined;
  #known: Lists | undefined;
  /** Of folders below. */
  #below: readonly Skill[] = [];
  /** Those for some files, of which one was touched. */
  readonly #touched = new Set<string>();
  /** Folders of skills that were used: what lies in them may be read. */
  readonly active: string[] = [];

  #forbidden: Policy["deny"] = [];

  constructor(options: SkillOptions | undefined) {
    this.#options = options;
    this.#found = options?.found ?? [];
  }

  get(name: string): Skill | undefined {
    return this.#found.find((skill) => skill.name === name);
  }

  /** Of a bundle, by the name it has there or calls itself, where no other bundle has one like that. */
  getUnqualified(name: string): Skill | undefined {
    const found = this.#found.filter(
      ({ plugin, name: whole, label }) =>
        plugin && (whole === `${plugin.name}:${name}` || label === name || (label && name === `${plugin.name}:${label}`)),
    );
    return found.length === 1 ? found[0] : undefined;
  }

  get listing(): ListingLimits | undefined {
    return this.#options?.listing;
  }

  get runsCommands(): boolean {
    return !this.#options?.withoutCommands;
  }

  get all(): readonly Skill[] {
    return this.#found;
  }

  get typed(): readonly Skill[] {
    return this.#lists().typed;
  }

  get offered(): readonly Skill[] {
    return this.#lists().offered;
  }

  /** Asked for often, and sorted once. */
  #lists(): Lists {
    if (this.#known?.of !== this.#found)
      this.#known = {
        of: this.#found,
        typed: typedSkills(this.#found, this.#touched),
        offered: offeredSkills(
          this.#found.filter((skill) => !this.#below.includes(skill)), // the model is told of those where it comes to them
          this.#options?.only,
        ),
      };
    return this.#known;
  }

  /** Is there one that the model may use, now or once a file of its pattern was touched? */
  get mayBeUsed(): boolean {
    return this.#found.some((skill) => this.mayOffer(skill) && !this.#below.includes(skill));
  }

  mayOffer({ name, modelInvocable }: Skill): boolean {
    const only = this.#options?.only;
    return modelInvocable && (only === undefined || only.includes(name));
  }

  async isTrusted({ scope }: Skill): Promise<boolean> {
    return scope === "user" || (scope === "project" && ((await this.#options?.trusted()) ?? false));
  }

  /** What a skill that the model uses forbids, until somebody says something new. */
  forbid(rules: Policy["deny"]): void {
    this.#forbidden = [...this.#forbidden, ...rules];
  }

  forgetRules(): void {
    this.#forbidden = [];
  }

  /** What lies beside a skill that is used may be read, and what it forbids is forbidden. */
  judgeBy(policy: Policy): Policy {
    if (this.active.length + this.#forbidden.length === 0) return policy;
    const { readable, deny } = policy;
    return { ...policy, readable: [...readable, ...this.active], deny: [...deny, ...this.#forbidden] };
  }

  /** What the model hears when it comes to files that skills are about; undefined where there can be none. */
  ofFiles(cwd: string, hasTool: () => boolean): SkillsOfFiles | undefined {
    const below = this.#options?.below;
    if (!below && this.#found.every(({ paths }) => paths.length === 0)) return undefined;
    let live: SkillsOfFiles | undefined;
    return {
      touch: async (paths) => {
        const { TouchedSkills } = await import("./touched-skills.ts");
        live ??= new TouchedSkills({ skills: this, cwd, below, hasTool: hasTool() });
        return await live.touch(paths);
      },
      forget: () => live?.forget(),
    };
  }

  /** People may type these from now on. Answers whether they could not before. */
  reveal(skills: readonly Skill[]): boolean {
    const before = this.typed.length;
    for (const { name } of skills) this.#touched.add(name);
    this.#known = undefined;
    return this.typed.length > before || skills.some((skill) => this.#below.includes(skill));
  }

  /** Of a folder below. One whose name is taken is called by its folder too. */
  addBelow(skills: readonly Skill[], folder: string): readonly Skill[] {
    const added = skills.map((skill) => (this.get(skill.name) ? { ...skill, name: `${folder}:${skill.name}` } : skill));
    this.#below = [...this.#below, ...added];
    this.#found = [...this.#found, ...added];
    return added;
  }

  /** These in the place of all that came with bundles. */
  replacePlugins(skills: readonly Skill[]): void {
    this.#plugins = skills;
    this.#found = [...this.#found.filter(({ plugin }) => !plugin), ...skills];
  }

  /** Answers what a person should hear. */
  async reload(): Promise<readonly string[]> {
    const found = await this.#options?.reload?.();
    if (found) this.#found = [...found.skills, ...this.#below];
    if (found && this.#plugins) this.replacePlugins(this.#plugins);
    return found?.warnings ?? [];
  }
}
