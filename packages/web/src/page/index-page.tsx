import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RunList, RunSummary } from "../model/run-summary.ts";
import { count, day, dollars, duration, plural } from "./format.ts";
import { stateLook } from "./header.tsx";
import { Icon } from "./icons.tsx";
import { plain } from "./text.tsx";
import { nextTheme } from "./theme.ts";
import { TopBar } from "./top-bar.tsx";

type Column = "outcome" | "model" | "startedAt" | "steps" | "tokens" | "costUsd" | "durationMs";
type Grouping = "task" | "model" | "none";
type State = RunSummary["outcome"]["state"];

const columns: readonly { readonly key: Column; readonly name: string; readonly isNumber?: true }[] = [
  { key: "outcome", name: "Outcome" },
  { key: "model", name: "Model" },
  { key: "startedAt", name: "Started" },
  { key: "steps", name: "Steps", isNumber: true },
  { key: "tokens", name: "Tokens", isNumber: true },
  { key: "costUsd", name: "Cost", isNumber: true },
  { key: "durationMs", name: "Duration", isNumber: true },
];
const states: readonly State[] = ["completed", "failed", "stopped", "interrupted", "unfinished"];

/** Many runs: how they ended, what they took, and how that changed. */
export function IndexPage({ list }: { list: RunList }): JSX.Element {
  const [query, setQuery] = useState("");
  const [state, setState] = useState<State | "all">("all");
  const [grouping, setGrouping] = useState<Grouping>("task");
  const [sort, setSort] = useState<{ key: Column; isUp: boolean }>({ key: "startedAt", isUp: false });
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [said, say] = useState("");
  const search = useRef<HTMLInputElement>(null);
  const shown = useMemo(() => {
    const words = query.trim().toLowerCase();
    const fits = (run: RunSummary): boolean =>
      (state === "all" || run.outcome.state === state) &&
      `${run.task} ${run.project} ${run.model} ${run.outcome.what} ${run.id}`.toLowerCase().includes(words);
    return sorted(list.runs.filter(fits), sort);
  }, [list, query, state, sort]);
  const groups = useMemo(() => grouped(shown, grouping), [shown, grouping]);
  const longest = Math.max(...list.runs.map((run) => run.durationMs ?? 0), 1);

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || /^(?:INPUT|SELECT)$/.test((event.target as HTMLElement).tagName))
        return;
      if (event.key === "/") {
        event.preventDefault();
        search.current?.focus();
      } else if (event.key === "t") nextTheme();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);

  const compare = (): void => {
    const words = list.runs.filter((run) => chosen.includes(run.word)).map((run) => quoted(run.word));
    navigator.clipboard.writeText(`outrider compare ${words.join(" ")}`).then(
      () => say("Command copied"),
      () => say(`outrider compare ${words.join(" ")}`),
    );
  };
  const cost = list.runs.some((run) => run.costUsd !== undefined)
    ? list.runs.reduce((all, run) => all + (run.costUsd ?? 0), 0)
    : undefined;
  return (
    <>
      <a class="skip" href="#runs">
        Skip to the runs
      </a>
      <TopBar crumb={<b>runs</b>}>
        <span class="dimmer hide-s" title={list.madeAt}>
          Made {day(list.madeAt)}
        </span>
      </TopBar>
      <main class="page" id="runs">
        <section class="ih" aria-label="Summary">
          <h1>{plural(list.runs.length, "run")}</h1>
          <ul class="sum">
            {states.map((name) => {
              const number = list.runs.filter((run) => run.outcome.state === name).length;
              return number === 0 ? null : (
                <li>
                  <Outcome state={name} word={`${number} ${stateLook[name].word.toLowerCase()}`} />
                </li>
              );
            })}
            <li class="dim">{dollars(cost)} in all</li>
            <li class="dim">{count(list.runs.reduce((all, run) => all + (run.tokens ?? 0), 0))} tokens</li>
          </ul>
        </section>
        <div class="filter" role="search">
          <label class="field">
            <span class="sr">Search runs</span>
            <Icon name="search" class="i-s" />
            <input
              ref={search}
              type="search"
              placeholder="Search task, cause, id"
              value={query}
              onInput={(event) => setQuery(event.currentTarget.value)}
            />
            <kbd class="kbd">/</kbd>
          </label>
          <div class="chips" role="group" aria-label="Outcome">
            {(["all", ...states.filter((name) => list.runs.some((run) => run.outcome.state === name))] as const).map((name) => (
              <button type="button" class="chip" aria-pressed={state === name} onClick={() => setState(name)}>
                {name === "all" ? "All" : stateLook[name].word}
              </button>
            ))}
          </div>
          <span class="grow" />
          <span class="dimmer hide-s">Group by</span>
          <div class="seg hide-s" role="group" aria-label="Group by">
            {(["task", "model", "none"] as const).map((name) => (
              <button type="button" aria-pressed={grouping === name} onClick={() => setGrouping(name)}>
                {name[0]?.toUpperCase()}
                {name.slice(1)}
              </button>
            ))}
          </div>
          <button type="button" class="btn" disabled={chosen.length !== 2} onClick={compare}>
            Compare {chosen.length}
          </button>
          <span class="dimmer" role="status">
            {said}
          </span>
        </div>
        <div class="tablewrap" tabIndex={0} role="group" aria-label="Runs">
          <table class="table runs">
            <thead>
              <tr>
                <th scope="col" class="cb">
                  <span class="sr">Choose</span>
                </th>
                {columns.map(({ key, name, isNumber }) => (
                  <th
                    scope="col"
                    class={isNumber ? "num" : ""}
                    aria-sort={sort.key === key ? (sort.isUp ? "ascending" : "descending") : undefined}
                  >
                    <button
                      type="button"
                      class="sort"
                      onClick={() => setSort({ key, isUp: sort.key === key ? !sort.isUp : !isNumber && key !== "startedAt" })}
                    >
                      {name}
                      {sort.key === key && <span aria-hidden="true">{sort.isUp ? " ↑" : " ↓"}</span>}
                    </button>
                  </th>
                ))}
                <th scope="col" class="dbar">
                  <span class="sr">Duration, as a bar</span>
                </th>
              </tr>
            </thead>
            {groups.map(({ name, note, runs }) => (
              <tbody>
                {grouping !== "none" && (
                  <tr class="grp">
                    <th scope="rowgroup" colSpan={9}>
                      <div>
                        <span class="gt">
                          <b>{plain(name)}</b> <span class="dimmer">{plain(note)}</span>
                        </span>
                        <span class="dim nowrap">
                          {runs.filter((run) => run.outcome.state === "completed").length} of {runs.length} completed
                        </span>
                        <Spark runs={runs} />
                      </div>
                    </th>
                  </tr>
                )}
                {runs.map((run) => (
                  <tr>
                    <td class="cb">
                      <input
                        type="checkbox"
                        aria-label={`Choose run ${run.id}`}
                        checked={chosen.includes(run.word)}
                        onChange={() =>
                          setChosen(
                            chosen.includes(run.word)
                              ? chosen.filter((word) => word !== run.word)
                              : [...chosen, run.word].slice(-2),
                          )
                        }
                      />
                    </td>
                    <td class="oc">
                      {run.href ? (
                        <a href={run.href}>
                          <Outcome state={run.outcome.state} word={stateLook[run.outcome.state].word} />
                        </a>
                      ) : (
                        <Outcome state={run.outcome.state} word={stateLook[run.outcome.state].word} />
                      )}
                      <span class="dimmer why">{plain(run.outcome.what)}</span>
                    </td>
                    <td class="mo">{plain(grouping === "model" ? run.task : run.model)}</td>
                    <td class="dim nowrap at" title={run.startedAt}>
                      {day(run.startedAt)}
                    </td>
                    <td class="num">{run.steps}</td>
                    <td class="num">{run.tokens === undefined ? "—" : count(run.tokens)}</td>
                    <td class="num">{dollars(run.costUsd)}</td>
                    <td class="num">{duration(run.durationMs)}</td>
                    <td class="dbar">
                      <svg width="96" height="8" aria-hidden="true">
                        <rect width={(((run.durationMs ?? 0) / longest) * 96).toFixed(1)} height="8" rx="1" class="d-bar" />
                      </svg>
                    </td>
                  </tr>
                ))}
              </tbody>
            ))}
          </table>
        </div>
        {shown.length === 0 && (
          <div class="empty">
            <b>No run matches.</b>Clear the search or choose another outcome.
          </div>
        )}
        {list.unread.length > 0 && (
          <p class="foot dimmer">
            {plural(list.unread.length, "file")} could not be read:{" "}
            {list.unread.slice(0, 20).map(({ file, why }, at) => (
              <>
                {at > 0 && "; "}
                <code>{plain(file)}</code>
                {why.startsWith(file) ? plain(why.slice(file.length)) : plain(`: ${why}`)}
              </>
            ))}
            {list.unread.length > 20 ? " and more" : ""}.
          </p>
        )}
      </main>
    </>
  );
}

export function Outcome({ state, word }: { state: State; word: string }): JSX.Element {
  return (
    <span class="st">
      <Icon name={stateLook[state].icon} class={stateLook[state].colour} />
      {word}
    </span>
  );
}

/** Durations from the oldest to the newest, between the lowest and the highest: it shows change, not size. */
function Spark({ runs }: { runs: readonly RunSummary[] }): JSX.Element | null {
  const timed = runs
    .filter((run) => run.durationMs !== undefined)
    .toSorted((a, b) => (a.startedAt ?? "").localeCompare(b.startedAt ?? ""));
  if (timed.length < 2) return null;
  const [width, height] = [112, 24];
  const times = timed.map((run) => run.durationMs ?? 0);
  const [low, high] = [Math.min(...times), Math.max(...times)];
  const points = times.map(
    (ms, at) =>
      [
        4 + (at * (width - 8)) / (times.length - 1),
        height - 4 - (high === low ? 0.5 : (ms - low) / (high - low)) * (height - 8),
      ] as const,
  );
  return (
    <svg
      class="spark"
      width={width}
      height={height}
      role="img"
      aria-label={`Duration of ${timed.length} runs, oldest first: ${times.map((ms) => duration(ms)).join(", ")}`}
    >
      <polyline points={points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")} />
      {points.map(([x, y], at) =>
        timed[at]?.outcome.state === "completed" ? (
          <circle cx={x} cy={y} r="2.2" class="ok" />
        ) : (
          <path d={`M${(x - 2.4).toFixed(1)} ${(y - 2.4).toFixed(1)}l4.8 4.8m0-4.8l-4.8 4.8`} class="bad" />
        ),
      )}
    </svg>
  );
}

function sorted(runs: readonly RunSummary[], { key, isUp }: { key: Column; isUp: boolean }): RunSummary[] {
  const sortValue = (run: RunSummary): string | number =>
    key === "outcome" ? states.indexOf(run.outcome.state) : (run[key] ?? (key === "model" || key === "startedAt" ? "" : -1));
  const ordered = runs.toSorted((a, b) => {
    const [left, right] = [sortValue(a), sortValue(b)];
    return typeof left === "number" && typeof right === "number" ? left - right : String(left).localeCompare(String(right));
  });
  return isUp ? ordered : ordered.reverse();
}

function grouped(runs: readonly RunSummary[], by: Grouping): { name: string; note: string; runs: readonly RunSummary[] }[] {
  if (by === "none") return [{ name: "", note: "", runs }];
  const groups = new Map<string, RunSummary[]>();
  for (const run of runs) {
    const key = by === "task" ? `${run.task}\n${run.project}` : run.model;
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups].map(([key, own]) => ({ name: key.split("\n")[0] ?? "", note: key.split("\n")[1] ?? "", runs: own }));
}

function quoted(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
