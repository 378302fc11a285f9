import { areSame, canStartAhead } from "../wait-script.ts";
import type { StartCommand } from "../workspace.ts";
import { type BoxPlan, isSamePlan } from "./box-plan.ts";
import type { StandingBox } from "./standing-box.ts";
import { type BoxVariables, isPlain } from "./start-script.ts";

/** A model often asks for several commands at once. Programs of other tools see other files, so their boxes are others. */
const sparesOfPlan = 3;
const maxSpares = 4;
/** The next request to the model is on its way by then. */
const raiseAfterMs = 2;

/** The boxes of the next commands, made ahead: making one takes longer than most commands. */
export class SpareBoxes {
  readonly #env: Readonly<Record<string, string>>;
  readonly #spares: StandingBox[] = [];
  #raising: NodeJS.Timeout | undefined;
  #isRetired = false;

  /** `env`: of every program in a box, beside its own variables. */
  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  /** One that was made for just this, and still is just this. */
  async take(plan: BoxPlan, command: StartCommand): Promise<StandingBox | undefined> {
    if (command.takesInput) return undefined; // has no way in for it
    const wanted = variablesOfBash(command);
    const at = this.#spares.findIndex(
      (spare) => isSamePlan(spare.plan, plan) && (spare.bash === undefined || hasBash(spare, wanted)),
    );
    const [spare] = at === -1 ? [] : this.#spares.splice(at, 1);
    if (spare === undefined || (await spare.isIntact())) return spare;
    void spare.discard();
    return undefined;
  }

  /**
   * After a command, for the next ones like it: while the model is asked and thinks. One by one, since each takes us some milliseconds.
   * `raise` makes one, with a bash in it that has these variables.
   */
  raiseSoon(plan: BoxPlan, command: StartCommand, raise: (bash: BoxVariables | undefined) => StandingBox): void {
    clearTimeout(this.#raising);
    if (this.#isRetired) return;
    this.#raising = setTimeout(() => {
      const bash = canStartAhead(this.#env) ? variablesOfBash(command) : undefined;
      const fitting = this.#spares.filter((spare) => isSamePlan(spare.plan, plan) && hasBash(spare, bash));
      if (fitting.length >= sparesOfPlan) return;
      this.#spares.push(raise(bash));
      if (this.#spares.length > maxSpares) void this.#spares.shift()?.discard();
      this.raiseSoon(plan, command, raise);
    }, raiseAfterMs);
    this.#raising.unref();
  }

  /** Nothing waits any more, and nothing is made to. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    clearTimeout(this.#raising);
    await Promise.all(this.#spares.splice(0).map((spare) => spare.discard()));
  }
}

/** Of a bash that can be started ahead of this command's script: it learns with the script in which folder it is to be. */
function variablesOfBash({ file, args, env = {}, isRepeated }: StartCommand): BoxVariables | undefined {
  const isScript = isRepeated && file === "bash" && args[0] === "-c" && args.length === 2;
  if (!isScript || !canStartAhead(env) || !Object.keys(env).every(isPlain)) return undefined;
  const { PWD: _, ...variables } = env;
  return variables;
}

function hasBash({ bash }: StandingBox, wanted: BoxVariables | undefined): boolean {
  return bash && wanted ? areSame(bash, wanted) : bash === wanted;
}
