import type { Policy } from "../../permissions/policy.ts";
import type { FoundSkills, Skill } from "../../commands/skills/skill.ts";
import { offeredSkills, typedSkills } from "../../commands/skills/listing.ts";

/** The skills and commands in files that a session has. */
export type SkillOptions = {
  readonly found: readonly Skill[];
  /** Does what the project's files loosen or run count? */
  readonly trusted: () => Promise<boolean>;
  /** Those the model may use by itself; all when absent. What people type is not held to it. */
  readonly only?: readonly string[] | undefined;
  /** Looks again. */
  readonly reload?: (() => Promise<FoundSkills>) | undefined;
};

/** As they are now: a host may have them looked for again. */
export class SessionSkills {
  readonly #options: SkillOptions | undefined;
  #found: readonly Skill[];
  /** Once they were looked for again. */
  #plugins: readonly Skill[] | undefined;
  /** Folders of skills that were used: what lies in them may be read. */
  readonly active: string[] = [];

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

  get all(): readonly Skill[] {
    return this.#found;
  }

  get typed(): Skill[] {
    return typedSkills(this.#found);
  }

  get offered(): Skill[] {
    return offeredSkills(this.#found, this.#options?.only);
  }

  mayOffer({ name, modelInvocable }: Skill): boolean {
    const only = this.#options?.only;
    return modelInvocable && (only === undefined || only.includes(name));
  }

  async isTrusted({ scope }: Skill): Promise<boolean> {
    return scope === "user" || (scope === "project" && ((await this.#options?.trusted()) ?? false));
  }

  /** What lies beside a skill that is used may be read. */
  widen(policy: Policy): Policy {
    return this.active.length === 0 ? policy : { ...policy, readable: [...policy.readable, ...this.active] };
  }

  /** These in the place of all that came with bundles. */
  replacePlugins(skills: readonly Skill[]): void {
    this.#plugins = skills;
    this.#found = [...this.#found.filter(({ plugin }) => !plugin), ...skills];
  }

  /** Answers what a person should hear. */
  async reload(): Promise<readonly string[]> {
    const found = await this.#options?.reload?.();
    if (found) this.#found = found.skills;
    if (found && this.#plugins) this.replacePlugins(this.#plugins);
    return found?.warnings ?? [];
  }
}
