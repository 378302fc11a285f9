import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve as resolvePath } from "node:path";
import { makeFolder } from "../../util/make-folder.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import type { SandboxAvailability } from "../detect-sandbox.ts";
import { fourthDescriptor, thirdDescriptor } from "../process.ts";
import type { SandboxSetting } from "../sandbox.ts";
import { neverStarted, runToEnd } from "../run-to-end.ts";
import type { ProcessEnd, ProgramCommand, RunCommand, RunningProcess, RunResult, StartCommand } from "../workspace.ts";
import { unboxedVariables } from "../unboxed-variables.ts";
import { type BoxPlan, planBox, proxyMount, writableDirectories } from "./box-plan.ts";
import { bubblewrapArguments, type Mount } from "./bubblewrap-arguments.ts";
import { type DomainProxy, openDomainProxy, proxyVariables } from "./domain-proxy.ts";
import type { DomainRule } from "./domain-rules.ts";
import { gitIdentity } from "./git-identity.ts";
import { hiddenMounts } from "./hidden-paths.ts";
import { entryAt } from "./host-files.ts";
import { isInside } from "../../util/is-inside.ts";
import { oneAtATime } from "../../util/one-at-a-time.ts";
import { inheritedFiles } from "./inherited-files.ts";
import { guardPaths, type PathGuard } from "./path-guard.ts";
import { filtersCalls, modeFilter, sharesGroups } from "./mode-filter.ts";
import { type Plants, PlantSearch } from "./plant-search.ts";
import { hardProcessLimit, limitProcesses, type ProcessLimit } from "./process-limit.ts";
import { isBoxRunningOver, runningBoxes } from "../running-boxes.ts";
import { whileStill } from "./hold-still.ts";
import { SpareBoxes } from "./spare-boxes.ts";
import { type BoxStart, raiseBox, type StandingBox } from "./standing-box.ts";
import {
  type BoxVariables,
  defaultProcessLimit,
  orderScript,
  scriptOrder,
  type StartSetting,
  shellFor,
  startScript,
} from "./start-script.ts";
import { tellPlants } from "./tell-plants.ts";

export type BoxOptions = SandboxSetting & {
  readonly bubblewrap: Extract<SandboxAvailability, { available: true }>;
  readonly rules: readonly DomainRule[];
};

type Prepared = {
  readonly temporary: string;
  readonly setAside: string;
  readonly identity: string | undefined;
  readonly filter: string | undefined;
  readonly plants: PlantSearch;
  readonly hidden: readonly Mount[];
  readonly processLimit: ProcessLimit | undefined;
  readonly inherited: readonly number[];
  readonly proxy: (DomainProxy & { readonly directory: string }) | undefined;
};

type Stay = {
  readonly plan: BoxPlan;
  readonly command: StartCommand;
  readonly isPassing: boolean;
  readonly guard: PathGuard;
  /** Undefined while there is none yet. */
  box: StandingBox | undefined;
  isKilled: boolean;
};

/** Programs in boxes of all sessions of this process. */
const living: Set<Stay> = new Set();

const socatPlaces = ["/usr/bin/socat", "/bin/socat", "/usr/local/bin/socat", "/run/current-system/sw/bin/socat"];
const proxyPort = 3128;
/** A shell's own words for "found, and not to be run". */
const refusedExitCode = 126;

/**
 * Starts programs, each in a box of its own that is gone when the program ends, with everything it left behind. The box of the next
 * program is made ahead: making one takes longer than most commands.
 */
export class Box {
  readonly #options: BoxOptions;
  readonly #directory: string;
  #prepared: Promise<Prepared> | undefined;
  readonly #spares: SpareBoxes;
  /** Programs that live. */
  readonly #inside = new Set<Stay>();
  readonly #ending = new Set<Promise<unknown>>();
  readonly #oneLook = oneAtATime();
  /** Of the last look at what they left, and the boxes there have been since. */
  #since = 0;
  #plans: Set<BoxPlan> = new Set();

  constructor(options: BoxOptions) {
    this.#options = options;
    this.#spares = new SpareBoxes(options.env);
    this.#directory = join(resolvePath(options.local.root, options.overflowDirectory), "sandbox");
  }

  /** `isPassing`: somebody waits for its end, which is near. Programs that live on do not keep us from looking what those have left. */
  async start(command: StartCommand, { isPassing = false }: { isPassing?: boolean } = {}): Promise<RunningProcess> {
    const { local } = this.#options;
    this.#prepared ??= this.#prepare();
    const prepared = await this.#prepared;
    if (command.signal?.aborted) return neverStarted();
    const plan = this.#plan(command, prepared);
    const spare = await this.#spares.take(plan, command);
    const cwd = resolvePath(local.root, command.cwd ?? ".");
    const seen = isVisible(cwd, plan.mounts) ? cwd : local.root;
    const guard = guardPaths(plan.watched, prepared.setAside);
    const stay: Stay = { plan, command, isPassing, guard, box: undefined, isKilled: false };
    this.#enter(stay, prepared);
    const startIn = (box: StandingBox): Promise<BoxStart> => {
      stay.box = box; // one that did not take the command is gone
      const script = box.bash === undefined ? orderFor(command, { cwd, seen }) : scriptOrder(command.args[1] ?? "", seen);
      return box.start({ script, onOutput: command.onOutput, signal: command.signal });
    };
    const raise = (): StandingBox => this.#raise(plan, prepared, { takesInput: command.takesInput });
    // One that waited and did not take the command has run nothing of it.
    const started = spare
      ? startIn(spare).then((answer) => ("complaint" in answer ? startIn(raise()) : answer))
      : startIn(raise());
    const ended = this.#end(stay, started, prepared);
    this.#ending.add(ended);
    const forget = (): void => void this.#ending.delete(ended);
    ended.then(forget, forget); // the failure is for whoever asks
    const answer = await started.catch(() => ({ complaint: "" }));
    if ("complaint" in answer) {
      const end = await ended; // which rejects with what is wrong, unless the program is refused
      return { ...neverStarted(), ended: Promise.resolve(end) };
    }
    const { program } = answer;
    return {
      pid: program.pid,
      ended,
      write: (data) => program.write(data),
      endInput: () => program.endInput(),
      async kill() {
        stay.isKilled = true;
        await program.kill();
        await ended.catch(() => {}); // told to whoever waits for it
      },
    };
  }

  run(command: RunCommand): Promise<RunResult> {
    return runToEnd((program) => this.start(program, { isPassing: true }), command);
  }

  /** Before something runs outside: what programs in boxes that live on have planted until now is taken away. */
  async settle(): Promise<void> {
    if (this.#inside.size === 0) return;
    const prepared = await this.#prepared;
    if (!prepared) return;
    const plants = await this.#look(prepared);
    const text = await tellPlants({ undone: plants.undone, plants, directory: this.#directory, setAside: prepared.setAside });
    for (const { command, isPassing } of this.#inside) if (!isPassing) say(command, text);
  }

  /** Where on the host lies what commands see at this path below /tmp. What only one of both has is found there; what is new comes `first`. */
  placeOf(path: string, first: "box" | "host"): string {
    const own = join(this.#temporary, path.slice("/tmp".length));
    const [one, other] = first === "box" ? [own, path] : [path, own];
    return entryAt(one) === "missing" && entryAt(other) !== "missing" ? other : one;
  }

  /** Nothing waits for a command any more. Before the processes of the workspace are ended: those are asked first. */
  async retire(): Promise<void> {
    await this.#spares.retire();
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#ending);
    const prepared = await this.#prepared?.catch(() => undefined);
    await prepared?.processLimit?.release();
    await prepared?.proxy?.close();
    if (prepared?.proxy) await rm(prepared.proxy.directory, { recursive: true, force: true });
    await rm(this.#temporary, { recursive: true, force: true });
    for (const file of [prepared?.identity, prepared?.filter]) if (file !== undefined) await rm(file, { force: true });
  }

  #enter(stay: Stay, { plants }: Prepared): void {
    runningBoxes.add(stay.plan);
    // With others inside, what is new may be theirs.
    if (this.#inside.size === 0) this.#since = plants.start();
    this.#inside.add(stay);
    living.add(stay);
    this.#plans.add(stay.plan);
  }

  /** Sees to what the program did, also when it could not be started: looking costs nothing, and nothing else would. */
  async #end(stay: Stay, started: Promise<BoxStart>, prepared: Prepared): Promise<ProcessEnd> {
    const { command, guard, plan } = stay;
    let isRefused = false;
    let end: ProcessEnd | undefined;
    let complaint: string | undefined;
    try {
      const answer = await started;
      if ("complaint" in answer) complaint = answer.complaint;
      else end = await endOf(answer.program, guard);
    } finally {
      runningBoxes.delete(plan);
      this.#spares.raiseSoon(plan, command, (bash) => this.#raise(plan, prepared, { bash }));
      living.delete(stay);
      const restored = await guard.restore((work) => this.#still(work));
      this.#inside.delete(stay);
      const others = [...this.#inside];
      // What those that somebody waits for have left is looked at when the last of them ends.
      const plants = others.some(({ isPassing }) => isPassing) ? noPlants : await this.#look(prepared);
      const undone = [...restored, ...plants.undone];
      const isItsOwn = plants.undone.length + plants.failed.length > 0 && others.length === 0;
      isRefused = restored.length > 0 || isItsOwn || guard.signal.aborted;
      say(command, await tellPlants({ undone, plants, directory: this.#directory, setAside: prepared.setAside }));
    }
    if (isRefused && !command.signal?.aborted && !stay.isKilled) return { end: "exit", exitCode: refusedExitCode };
    if (end === undefined) throw setUpFailure(complaint ?? "");
    return end;
  }

  /** While nothing that lives in a box can change what lies in our folders: a path leads where it led when it was looked at. */
  async #still<T>(work: () => Promise<T>): Promise<T> {
    const folders = this.#writable();
    const others = [...living].filter(({ plan }) => isBoxRunningOver(folders, [plan])).flatMap(({ box }) => box ?? []);
    return await whileStill(others, work);
  }

  #writable(): string[] {
    const { local, home, sandbox } = this.#options;
    return writableDirectories({ root: local.root, home, allowWrite: sandbox.allowWrite ?? [] });
  }

  /** Of all that commands have left since the last look. A git directory counts as protected where no box could write its deciding files. */
  #look({ plants }: Prepared): Promise<Plants> {
    return this.#oneLook(async () => {
      const since = this.#since;
      const fixed = [...this.#plans].map(
        (plan) => new Set(plan.mounts.flatMap((it) => (it.type === "read-only" ? [it.path] : []))),
      );
      this.#since = plants.moment();
      this.#plans = new Set([...this.#inside].map(({ plan }) => plan));
      const isMounted = (path: string): boolean =>
        fixed.every((paths) => ["", "/config", "/commondir"].some((name) => paths.has(`${path}${name}`)));
      return await this.#still(() => plants.finish(since, isMounted));
    });
  }

  #raise(
    plan: BoxPlan,
    prepared: Prepared,
    { takesInput = false, bash }: { takesInput?: boolean | undefined; bash?: BoxVariables | undefined },
  ): StandingBox {
    const { local, bubblewrap } = this.#options;
    const start = this.#startSetting(prepared, takesInput);
    const args = bubblewrapArguments({
      mounts: plan.mounts,
      cwd: local.root,
      shareNetwork: this.#sharesNetwork(),
      asRoot: process.getuid?.() === 0,
      filter: prepared.filter === undefined ? undefined : fourthDescriptor,
      features: bubblewrap.features,
      unset: unboxedVariables,
      set: { TMPDIR: "/tmp", ...(prepared.proxy && proxyVariables(proxyPort)) },
      command: shellFor(start),
    });
    const group = prepared.processLimit;
    return raiseBox({
      local,
      plan,
      file: group ? "/bin/sh" : bubblewrap.path,
      args: group ? ["-c", joinGroup, group.procs, bubblewrap.path, ...args] : args,
      filter: prepared.filter,
      start: startScript(start, bash),
      takesInput,
      bash,
    });
  }

  get #temporary(): string {
    return join(this.#directory, "tmp");
  }

  #sharesNetwork(): boolean {
    return this.#options.sandbox.network?.allowed ?? false;
  }

  async #prepare(): Promise<Prepared> {
    const { local, sandbox, home, env } = this.#options;
    const writable = this.#writable();
    makeFolder(this.#temporary);
    const identity = await gitIdentity(local);
    const identityFile = join(this.#directory, "gitconfig");
    if (identity !== undefined) await writeFile(identityFile, identity, { mode: 0o600 });
    const filter = filtersCalls() ? modeFilter({ processor: process.arch, sharesGroups: sharesGroups(writable) }) : undefined;
    const filterFile = join(this.#directory, "mode-filter");
    if (filter) await writeFile(filterFile, filter, { mode: 0o600 });
    const setAside = join(this.#directory, "set-aside");
    return {
      temporary: this.#temporary,
      setAside,
      plants: new PlantSearch({ roots: writable, setAside }),
      identity: identity === undefined ? undefined : identityFile,
      filter: filter && filterFile,
      hidden: hiddenMounts({ home, outriderHome: env["OUTRIDER_HOME"], writable, searchPath: env["PATH"] ?? "" }),
      processLimit: this.#limitProcesses(sandbox.limits?.processes ?? defaultProcessLimit),
      inherited: inheritedFiles(),
      proxy: await this.#openProxy(),
    };
  }

  #limitProcesses(limit: number): ProcessLimit | undefined {
    if (process.getuid?.() !== 0) return undefined; // the limit set inside counts for everybody else
    const group = limitProcesses(limit);
    if (!group)
      this.#options.onWarning?.("The number of processes is not limited: this is root, and no control group can be made.");
    return group;
  }

  async #openProxy(): Promise<Prepared["proxy"]> {
    const { rules, isPublicAddress, onWarning } = this.#options;
    if (rules.length === 0 || this.#sharesNetwork()) return undefined;
    if (!socatPlaces.some((path) => existsSync(path))) {
      onWarning?.("Commands have no network: reaching the allowed domains from a sandbox needs the program socat.");
      return undefined;
    }
    const directory = await mkdtemp(join(tmpdir(), "outrider-proxy-"));
    const proxy = await openDomainProxy(join(directory, "socket"), { rules, isAllowedAddress: isPublicAddress });
    return { ...proxy, directory };
  }

  #plan(command: ProgramCommand, prepared: Prepared): BoxPlan {
    const { local, sandbox, home, overflowDirectory } = this.#options;
    return planBox({
      root: local.root,
      home,
      hidden: prepared.hidden,
      allowWrite: sandbox.allowWrite ?? [],
      denyRead: sandbox.denyRead ?? [],
      denyWrite: sandbox.denyWrite ?? [],
      overflowDirectory: resolvePath(local.root, overflowDirectory),
      temporary: prepared.temporary,
      identity: prepared.identity,
      writes: command.writes ?? [],
      sharesNetwork: this.#sharesNetwork(),
      proxyDirectory: prepared.proxy?.directory,
      contested: new Set(
        [...runningBoxes].flatMap((plan) => plan.watched.filter(({ type }) => type !== "link").map(({ path }) => path)),
      ),
    });
  }

  #startSetting({ inherited, proxy }: Prepared, takesInput: boolean): StartSetting {
    const limits = this.#options.sandbox.limits ?? {};
    const processes = Math.min(limits.processes ?? defaultProcessLimit, hardProcessLimit());
    return {
      limits: { ...limits, processes },
      close: inherited.filter((number) => !takesInput || number !== thirdDescriptor),
      proxy: proxy && { socket: `${proxyMount}/socket`, port: proxyPort },
    };
  }
}

const noPlants: Plants = { undone: [], failed: [], listed: [], isWhole: true };

const joinGroup = 'echo $$ > "$0" && exec "$@"';

/** Is what the host has at `path` there in the box too? */
function isVisible(path: string, mounts: readonly Mount[]): boolean {
  const above = mounts.filter((mount) => isInside(mount.path, path)).sort((a, b) => b.path.length - a.path.length)[0];
  return above === undefined || above.type === "read-only" || above.type === "writable" || above.path === path;
}

function orderFor({ file, args, env, takesInput }: StartCommand, { cwd, seen }: { cwd: string; seen: string }): string {
  const variables = { PWD: seen, ...env, ...(seen !== cwd && { PWD: seen }) };
  return orderScript({ file, args, cwd: seen, env: variables, input: takesInput ? thirdDescriptor : undefined });
}

/** Whoever touches what is protected is ended. */
async function endOf(program: RunningProcess, { signal }: PathGuard): Promise<ProcessEnd> {
  const kill = (): void => void program.kill();
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  return await program.ended;
}

function say(command: ProgramCommand, text: string): void {
  if (text !== "") void command.onOutput?.({ stream: "stderr", bytes: Buffer.from(text) });
}

function setUpFailure(complaint: string): RuntimeError {
  const words = complaint.trim().replaceAll(/^bwrap: /gm, "") || "bubblewrap ended without a word";
  return new RuntimeError("config", `The sandbox could not be set up, so the command was not run: ${words}.`);
}
