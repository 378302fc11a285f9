import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve as resolvePath } from "node:path";
import { RuntimeError } from "../../protocol/errors.ts";
import type { SandboxAvailability } from "../detect-sandbox.ts";
import { inputDescriptor } from "../process.ts";
import type { SandboxSetting } from "../sandbox.ts";
import type { RunCommand, RunResult } from "../workspace.ts";
import { unboxedVariables } from "../unboxed-variables.ts";
import { type BoxPlan, isSamePlan, planBox, proxyMount, writableDirectories } from "./box-plan.ts";
import { bubblewrapArguments, type Mount } from "./bubblewrap-arguments.ts";
import { type DomainProxy, openDomainProxy } from "./domain-proxy.ts";
import type { DomainRule } from "./domain-rules.ts";
import { gitIdentity } from "./git-identity.ts";
import { hiddenMounts } from "./hidden-paths.ts";
import { entryAt } from "./host-files.ts";
import { isInside } from "../../util/is-inside.ts";
import { inheritedFiles } from "./inherited-files.ts";
import { guardPaths } from "./path-guard.ts";
import { type Plants, PlantSearch } from "./plant-search.ts";
import { hardProcessLimit, limitProcesses, type ProcessLimit } from "./process-limit.ts";
import { type BoxEnd, raiseBox, type StandingBox } from "./standing-box.ts";
import { defaultProcessLimit, orderScript, type StartSetting, shellFor, startScript } from "./start-script.ts";
import { tellPlants } from "./tell-plants.ts";

export type BoxOptions = SandboxSetting & {
  readonly bubblewrap: Extract<SandboxAvailability, { available: true }>;
  readonly rules: readonly DomainRule[];
};

type Prepared = {
  readonly temporary: string;
  readonly setAside: string;
  readonly identity: string | undefined;
  readonly plants: PlantSearch;
  readonly hidden: readonly Mount[];
  readonly processLimit: ProcessLimit | undefined;
  readonly inherited: readonly number[];
  readonly proxy: (DomainProxy & { readonly directory: string }) | undefined;
};

const socatPlaces = ["/usr/bin/socat", "/bin/socat", "/usr/local/bin/socat", "/run/current-system/sw/bin/socat"];
const proxyPort = 3128;
/** A shell's own words for "found, and not to be run". */
const refusedExitCode = 126;

/** A model often asks for several commands at once. Programs of other tools see other files, so their boxes are others. */
const sparesOfPlan = 2;
const maxSpares = 3;
const raiseAfterMs = 3;

/** Of all boxes of this process: a command must not trust what another one is just making. */
const running = new Set<BoxPlan>();

/**
 * Runs programs, each in a box of its own that is gone when the program ends, with everything it left behind. The box of the next
 * program is made ahead: making one takes longer than most commands.
 */
export class Box {
  readonly #options: BoxOptions;
  readonly #directory: string;
  #prepared: Promise<Prepared> | undefined;
  readonly #spares: StandingBox[] = [];
  #raising: NodeJS.Timeout | undefined;
  #isRetired = false;
  #active = 0;
  #since = 0;

  constructor(options: BoxOptions) {
    this.#options = options;
    this.#directory = join(resolvePath(options.local.root, options.overflowDirectory), "sandbox");
  }

  async run(command: RunCommand): Promise<RunResult> {
    const { local } = this.#options;
    this.#prepared ??= this.#prepare();
    const prepared = await this.#prepared;
    const plan = this.#plan(command, prepared);
    const box = (await this.#takeSpare(plan, command)) ?? this.#raise(plan, prepared, command.input);
    const cwd = resolvePath(local.root, command.cwd ?? ".");
    const seen = isVisible(cwd, plan.mounts) ? cwd : local.root;
    const guard = guardPaths(plan.watched, prepared.setAside);
    running.add(plan);
    // With others running, what is new may be theirs: the last one to end looks.
    if (this.#active++ === 0) this.#since = prepared.plants.start();
    let isRefused = false;
    let end: BoxEnd;
    try {
      end = await box.run({
        script: orderScript({
          file: command.file,
          args: command.args,
          cwd: seen,
          env: { PWD: seen, ...command.env, ...(seen !== cwd && { PWD: seen }) },
          input: command.input === undefined ? undefined : inputDescriptor,
        }),
        timeoutMs: command.timeoutMs,
        signals: [command.signal, guard.signal],
        onOutput: command.onOutput,
      });
    } finally {
      running.delete(plan);
      this.#raiseSparesSoon(plan, prepared);
      // Also when the command could not be started: looking costs nothing, and nothing else would.
      const restored = await guard.restore();
      const plants = --this.#active === 0 ? await this.#findPlants(plan, prepared) : noPlants;
      const undone = [...restored, ...plants.undone];
      isRefused = undone.length > 0 || plants.failed.length > 0 || guard.signal.aborted;
      say(command, await tellPlants({ undone, plants, directory: this.#directory, setAside: prepared.setAside }));
    }
    if (isRefused && !command.signal.aborted && end.result.end !== "timeout") return { end: "exit", exitCode: refusedExitCode };
    if (end.complaint !== undefined) throw setUpFailure(end.complaint);
    return end.result;
  }

  /** Where on the host lies what commands see at this path below /tmp. What only one of both has is found there; what is new comes `first`. */
  placeOf(path: string, first: "box" | "host"): string {
    const own = join(this.#temporary, path.slice("/tmp".length));
    const [one, other] = first === "box" ? [own, path] : [path, own];
    return entryAt(one) === "missing" && entryAt(other) !== "missing" ? other : one;
  }

  /** Nothing waits for a command any more. Before the processes of the workspace are ended: those are asked first. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    clearTimeout(this.#raising);
    await Promise.all(this.#spares.splice(0).map((spare) => spare.discard()));
  }

  async close(): Promise<void> {
    const prepared = await this.#prepared?.catch(() => undefined);
    await prepared?.processLimit?.release();
    await prepared?.proxy?.close();
    if (prepared?.proxy) await rm(prepared.proxy.directory, { recursive: true, force: true });
    await rm(this.#temporary, { recursive: true, force: true });
    if (prepared?.identity) await rm(prepared.identity, { force: true });
  }

  async #findPlants(plan: BoxPlan, { plants }: Prepared): Promise<Plants> {
    const fixed = new Set(plan.mounts.flatMap(({ type, path }) => (type === "read-only" ? [path] : [])));
    const isMounted = (path: string): boolean => ["", "/config", "/commondir"].some((name) => fixed.has(`${path}${name}`));
    return await plants.finish(this.#since, isMounted);
  }

  /** One that was made for just this, and still is just this. */
  async #takeSpare(plan: BoxPlan, { input }: RunCommand): Promise<StandingBox | undefined> {
    if (input !== undefined) return undefined; // has no way in for it
    const at = this.#spares.findIndex((spare) => isSamePlan(spare.plan, plan));
    const [spare] = at === -1 ? [] : this.#spares.splice(at, 1);
    if (spare === undefined || (await spare.isIntact())) return spare;
    void spare.discard();
    return undefined;
  }

  /** While the model thinks about what the command said: not in the way of asking it. */
  #raiseSparesSoon(plan: BoxPlan, prepared: Prepared): void {
    clearTimeout(this.#raising);
    if (this.#isRetired) return;
    this.#raising = setTimeout(() => {
      const fitting = this.#spares.filter((spare) => isSamePlan(spare.plan, plan)).length;
      for (let count = fitting; count < sparesOfPlan; count++) this.#spares.push(this.#raise(plan, prepared));
      while (this.#spares.length > maxSpares) void this.#spares.shift()?.discard();
    }, raiseAfterMs);
    this.#raising.unref();
  }

  #raise(plan: BoxPlan, prepared: Prepared, input?: string): StandingBox {
    const { local, bubblewrap } = this.#options;
    const start = this.#startSetting(prepared, input);
    const args = bubblewrapArguments({
      mounts: plan.mounts,
      cwd: local.root,
      shareNetwork: this.#sharesNetwork(),
      asRoot: process.getuid?.() === 0,
      features: bubblewrap.features,
      unset: unboxedVariables,
      set: { TMPDIR: "/tmp", ...(prepared.proxy && proxyVariables) },
      command: shellFor(start),
    });
    const group = prepared.processLimit;
    return raiseBox({
      local,
      plan,
      file: group ? "/bin/sh" : bubblewrap.path,
      args: group ? ["-c", joinGroup, group.procs, bubblewrap.path, ...args] : args,
      start: startScript(start),
      input,
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
    const writable = writableDirectories({ root: local.root, home, allowWrite: sandbox.allowWrite ?? [] });
    await mkdir(this.#temporary, { recursive: true, mode: 0o700 });
    const identity = await gitIdentity(local);
    const identityFile = join(this.#directory, "gitconfig");
    if (identity !== undefined) await writeFile(identityFile, identity, { mode: 0o600 });
    const setAside = join(this.#directory, "set-aside");
    return {
      temporary: this.#temporary,
      setAside,
      plants: new PlantSearch({ roots: writable, setAside }),
      identity: identity === undefined ? undefined : identityFile,
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

  #plan(command: RunCommand, prepared: Prepared): BoxPlan {
    const { local, sandbox, home, overflowDirectory } = this.#options;
    return planBox({
      root: local.root,
      home,
      hidden: prepared.hidden,
      allowWrite: sandbox.allowWrite ?? [],
      denyRead: sandbox.denyRead ?? [],
      overflowDirectory: resolvePath(local.root, overflowDirectory),
      temporary: prepared.temporary,
      identity: prepared.identity,
      writes: command.writes ?? [],
      sharesNetwork: this.#sharesNetwork(),
      proxyDirectory: prepared.proxy?.directory,
      contested: new Set(
        [...running].flatMap((plan) => plan.watched.filter(({ type }) => type !== "link").map(({ path }) => path)),
      ),
    });
  }

  #startSetting({ inherited, proxy }: Prepared, input: string | undefined): StartSetting {
    const limits = this.#options.sandbox.limits ?? {};
    const processes = Math.min(limits.processes ?? defaultProcessLimit, hardProcessLimit());
    return {
      limits: { ...limits, processes },
      close: inherited.filter((number) => input === undefined || number !== inputDescriptor),
      proxy: proxy && { socket: `${proxyMount}/socket`, port: proxyPort },
    };
  }
}

const noPlants: Plants = { undone: [], failed: [], listed: [], isWhole: true };

const joinGroup = 'echo $$ > "$0" && exec "$@"';

const proxyAddress = `http://127.0.0.1:${proxyPort}`;
const proxyVariables: Readonly<Record<string, string>> = {
  HTTP_PROXY: proxyAddress,
  HTTPS_PROXY: proxyAddress,
  ALL_PROXY: `socks5h://127.0.0.1:${proxyPort}`,
  http_proxy: proxyAddress,
  https_proxy: proxyAddress,
  all_proxy: `socks5h://127.0.0.1:${proxyPort}`,
  NO_PROXY: "localhost,127.0.0.1,::1",
  no_proxy: "localhost,127.0.0.1,::1",
  NODE_USE_ENV_PROXY: "1",
};

/** Is what the host has at `path` there in the box too? */
function isVisible(path: string, mounts: readonly Mount[]): boolean {
  const above = mounts.filter((mount) => isInside(mount.path, path)).sort((a, b) => b.path.length - a.path.length)[0];
  return above === undefined || above.type === "read-only" || above.type === "writable" || above.path === path;
}

function say(command: RunCommand, text: string): void {
  if (text !== "") command.onOutput?.({ stream: "stderr", bytes: Buffer.from(text) });
}

function setUpFailure(complaint: string): RuntimeError {
  const words = complaint.trim().replaceAll(/^bwrap: /gm, "") || "bubblewrap ended without a word";
  return new RuntimeError("config", `The sandbox could not be set up, so the command was not run: ${words}.`);
}
