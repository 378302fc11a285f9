import type { JSX, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { plural } from "../page/format.ts";
import { Icon } from "../page/icons.tsx";
import { plain } from "../page/text.tsx";
import type { Api } from "./api.ts";
import { AskCard } from "./ask-card.tsx";
import type { ModelChoice } from "./choices.ts";
import { Composer } from "./composer.tsx";
import { DiffDialog } from "./diff-dialog.tsx";
import type { Rights, Waiting } from "./live-types.ts";
import { Panel } from "./panel.tsx";
import { folderName } from "./session-list.tsx";
import { questionId } from "./session-state.ts";
import { ShareDialog } from "./share-dialog.tsx";
import { StepsView } from "./steps-view.tsx";
import { useFeed } from "./use-feed.ts";
import { useLiveKeys } from "./use-live-keys.ts";
import { useSteps } from "./use-steps.ts";

export type Pane = "list" | "session" | "panel";
type Props = {
  readonly api: Api;
  readonly id: string;
  readonly title: string;
  readonly rights: Rights;
  readonly pane: Pane;
  readonly isNotifying: boolean;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly setPane: (pane: Pane) => void;
  readonly onNotify: () => void;
  readonly say: (words: string) => void;
};

/** One session: what happened, what it waits for, what can be said to it. */
export function SessionView(props: Props): JSX.Element {
  const { api, id, rights, field, say, pane, setPane } = props;
  const { view, retryNow } = useFeed(api, id);
  const choice = useSteps(view?.run);
  const [models, setModels] = useState<readonly ModelChoice[]>([]);
  const [effort, setEffort] = useState<string>();
  const [dialog, setDialog] = useState<"diff" | "share">();
  const stops = useRef(0);
  const base = `/v1/sessions/${id}`;
  const state = view?.state;
  const questions = state?.questions ?? [];
  const isWorking = state?.isWorking ?? false;
  const isOffline = view?.connection.type !== "live";
  const isWaiting = questions.length > 0;

  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      say((error as Error).message);
      return false;
    }
  };
  /** Once ends the turn; twice in a second drops what waits too. */
  const interrupt = (): void => {
    const isTwice = Date.now() - stops.current < 1000;
    stops.current = Date.now();
    void attempt(() => api.send("POST", `${base}/cancel`, { waiting: isTwice ? "drop" : "keep" }));
  };
  const send = (text: string, how: "steer" | "queue"): Promise<boolean> =>
    attempt(() =>
      api.send(
        "POST",
        `${base}/messages`,
        { text, mode: how === "steer" && isWorking ? "steer" : "queue", wait: false },
        crypto.randomUUID(),
      ),
    );
  const wantModels = (): void => {
    if (models.length > 0 || !state?.model) return;
    const provider = encodeURIComponent(state.model.provider);
    void attempt(async () => setModels((await api.get<{ models: ModelChoice[] }>(`/v1/models?provider=${provider}`)).models));
  };
  useLiveKeys({ choice, field, onInterrupt: isWorking && rights.mayDrive ? interrupt : undefined });
  useEffect(() => {
    const step = /step-(\d+)/.exec(location.hash)?.[1];
    if (view?.isReady && step) choice.select(Number(step));
  }, [view?.isReady]);
  const asked = useAnnounced(questions.map(questionId), props.title);
  useDocumentTitle(isWaiting ? `Waiting for you: ${props.title}` : isWorking ? `Running: ${props.title}` : props.title);

  return (
    <>
      <main class="main" id="session" data-session={id} data-ready={view?.isReady ? "yes" : "no"}>
        <p class="sr" role="status">
          {asked}
        </p>
        <header class="bar">
          <button type="button" class="btn btn-quiet btn-i only-s" aria-label="Back to sessions" onClick={() => setPane("list")}>
            <Icon name="back" />
          </button>
          <div class="grow bar-t">
            <h1 class="trunc">{plain(props.title)}</h1>
            <p class="trunc dimmer">
              {isWaiting ? (
                <b class="c-waiting">Waiting for you</b>
              ) : isWorking ? (
                <b class="c-running">Running</b>
              ) : (
                <b>{view?.isReady ? "Idle" : "Loading"}</b>
              )}
              {view && (
                <>
                  {" · "}
                  <span title={view.run.cwd}>{plain(folderName(view.run.cwd ?? ""))}</span> ·{" "}
                  {plural(view.run.steps.length, "step")}
                </>
              )}
            </p>
          </div>
          <div class="seg only-p" role="group" aria-label="View">
            <button type="button" aria-pressed={pane !== "panel"} onClick={() => setPane("session")}>
              Steps
            </button>
            <button type="button" aria-pressed={pane === "panel"} onClick={() => setPane("panel")}>
              Plan
            </button>
          </div>
          {rights.mayDrive && (
            <button type="button" class="btn btn-quiet hide-s" onClick={() => setDialog("share")}>
              <Icon name="link" />
              Share
            </button>
          )}
          <button
            type="button"
            class="btn btn-quiet btn-i hide-s"
            aria-label="Notify me"
            title={props.isNotifying ? "Notifications are on" : "Notify me when a session waits for me or ends"}
            aria-pressed={props.isNotifying}
            onClick={props.onNotify}
          >
            <Icon name="bell" />
          </button>
          {rights.mayDrive && isWorking && (
            <button
              type="button"
              class="btn btn-danger"
              aria-label="Stop"
              disabled={isOffline}
              onClick={() => void attempt(() => api.send("POST", `${base}/cancel`, { waiting: "drop" }))}
            >
              <Icon name="stop" />
              <span>Stop</span>
            </button>
          )}
        </header>
        {view?.connection.type === "lost" && (
          <Banner retryAt={view.connection.retryAt} seq={state?.seq ?? 0} onRetry={retryNow} />
        )}
        {view?.isReady ? (
          <StepsView
            key={id}
            run={view.run}
            draft={state?.draft}
            choice={choice}
            isWorking={isWorking}
            isWaiting={isWaiting}
            turnBegan={state?.turnBegan ?? 0}
          />
        ) : (
          <div class="scroll" />
        )}
        <div class="dock">
          <div class="inner">
            <AskCard
              questions={questions}
              cwd={view?.run.cwd ?? ""}
              rights={rights}
              isOffline={isOffline}
              answerPermission={({ requestId }, answer) =>
                void attempt(() => api.send("POST", `${base}/permissions/${requestId}`, answer))
              }
              answerQuestion={({ interactionId }, value) =>
                void attempt(() => api.send("POST", `${base}/questions/${interactionId}`, value === undefined ? {} : { value }))
              }
            />
            {state && (
              <Queue waiting={state.queue} rights={rights} isOffline={isOffline} base={base} api={api} attempt={attempt} />
            )}
            {rights.mayDrive ? (
              <Composer
                api={api}
                sessionId={id}
                field={field}
                isWorking={isWorking}
                isOffline={isOffline}
                model={state?.model?.id}
                mode={state?.mode}
                effort={effort}
                models={models}
                context={state?.context}
                costUsd={view?.run.totals.costUsd}
                onWantModels={wantModels}
                onSettings={(change) =>
                  void attempt(async () => {
                    await api.send("PATCH", `${base}/settings`, change);
                    if (change.effort !== undefined) setEffort(change.effort);
                  })
                }
                onSend={send}
                onInterrupt={interrupt}
              />
            ) : (
              <p class="dimmer only-look">You are looking on: this token may neither prompt nor answer.</p>
            )}
          </div>
        </div>
      </main>
      {view && (
        <Panel
          api={api}
          sessionId={id}
          run={view.run}
          todos={view.state.todos}
          tasks={view.state.tasks}
          context={view.state.context}
          rights={rights}
          onDiff={() => setDialog("diff")}
          onStep={(step) => {
            setPane("session");
            choice.select(step);
          }}
        />
      )}
      {dialog === "diff" && <DiffDialog api={api} sessionId={id} isWorking={isWorking} onClose={() => setDialog(undefined)} />}
      {dialog === "share" && <ShareDialog api={api} sessionId={id} onClose={() => setDialog(undefined)} />}
    </>
  );
}

function Banner({ retryAt, seq, onRetry }: { retryAt: number; seq: number; onRetry: () => void }): JSX.Element {
  const seconds = Math.max(0, Math.round((retryAt - Date.now()) / 1000));
  return (
    <div class="banner" role="alert">
      <Icon name="offline" class="c-warn" />
      <span class="grow">
        <b>Connection lost.</b> The server does not answer. The page tries again
        {seconds > 1 ? ` in ${seconds} s` : " now"} and catches up from event {seq.toLocaleString("en-US")}.
      </span>
      <button type="button" class="btn" onClick={onRetry}>
        Try now
      </button>
    </div>
  );
}

type QueueProps = {
  readonly waiting: readonly Waiting[];
  readonly rights: Rights;
  readonly isOffline: boolean;
  readonly base: string;
  readonly api: Api;
  readonly attempt: (work: () => Promise<unknown>) => Promise<boolean>;
};

function Queue({ waiting, rights, isOffline, base, api, attempt }: QueueProps): JSX.Element | null {
  if (waiting.length === 0) return null;
  const drop = (id: string): Promise<unknown> => api.send("DELETE", `${base}/prompts/${id}`);
  return (
    <section class="queue" aria-labelledby="qu-t">
      <h2 id="qu-t">
        Queued<span class="n">{waiting.length}</span>
        {rights.mayDrive && waiting.some(({ isHeld }) => isHeld) && (
          <button
            type="button"
            class="btn btn-quiet"
            disabled={isOffline}
            onClick={() => void attempt(() => api.send("POST", `${base}/resume`))}
          >
            Go on with what waited before the restart
          </button>
        )}
      </h2>
      <ol>
        {waiting.map(({ id, text }) => (
          <li key={id}>
            <span class="trunc grow" title={text}>
              {plain(text)}
            </span>
            {rights.mayDrive && (
              <>
                <button
                  type="button"
                  class="btn btn-quiet"
                  disabled={isOffline}
                  onClick={() =>
                    void attempt(async () => {
                      await drop(id);
                      await api.send("POST", `${base}/steer`, { text });
                    })
                  }
                >
                  Send now
                </button>
                <button
                  type="button"
                  class="btn btn-quiet btn-i"
                  aria-label={`Remove: ${text.slice(0, 60)}`}
                  disabled={isOffline}
                  onClick={() => void attempt(() => drop(id))}
                >
                  <Icon name="x" class="i-s" />
                </button>
              </>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** What a screen reader is told when a question comes. It does not take the focus. */
function useAnnounced(ids: readonly string[], title: string): string {
  const known = useRef(new Set<string>());
  const [said, say] = useState("");
  useEffect(() => {
    if (ids.some((id) => !known.current.has(id))) say(`${title} waits for your answer`);
    else if (ids.length === 0) say("");
    known.current = new Set(ids);
  }, [ids.join(" ")]);
  return said;
}

function useDocumentTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Outrider`;
  }, [title]);
}
