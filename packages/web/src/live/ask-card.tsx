import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { editsInInput } from "../model/edits.ts";
import type { FileEdit } from "../model/run-model.ts";
import { Diff } from "../page/output.tsx";
import { duration } from "../page/format.ts";
import { Icon } from "../page/icons.tsx";
import { plain } from "../page/text.tsx";
import type { Interaction, Permission, Question, Rights } from "./live-types.ts";
import { questionId } from "./session-state.ts";
import { chosen } from "./settings.ts";

export type PermissionAnswer = { readonly decision: "allow" | "deny"; readonly remember?: "session"; readonly message?: string };
type Acts = {
  readonly rights: Rights;
  readonly isOffline: boolean;
  readonly answerPermission: (question: Permission, answer: PermissionAnswer) => void;
  readonly answerQuestion: (question: Interaction, value: string | undefined) => void;
};

/** A key that is meant for something else must not answer what has just come up. */
const deafMs = 500;

/** The oldest question; the others wait behind it. */
export function AskCard({ questions, cwd, ...acts }: Acts & { questions: readonly Question[]; cwd: string }): JSX.Element | null {
  const [question] = questions;
  useReturnedFocus(question && questionId(question));
  if (!question) return null;
  const place = questions.length > 1 ? ` · 1 of ${questions.length}` : "";
  return question.type === "permission.requested" ? (
    <PermissionCard key={question.requestId} question={question} cwd={cwd} place={place} {...acts} />
  ) : (
    <QuestionCard key={question.interactionId} question={question} place={place} {...acts} />
  );
}

/** Who was on a card that is gone is on the next one, or where the next words are written: not at the top of the page. */
function useReturnedFocus(id: string | undefined): void {
  const wasInside = useRef(false);
  useEffect(() => {
    const onFocus = ({ target }: FocusEvent): void => {
      wasInside.current = target instanceof Element && target.closest("#ask") !== null;
    };
    document.addEventListener("focusin", onFocus);
    return () => document.removeEventListener("focusin", onFocus);
  }, []);
  useEffect(() => {
    const isNowhere = document.activeElement === null || document.activeElement === document.body;
    if (isNowhere && wasInside.current) (document.getElementById("ask") ?? document.getElementById("prompt"))?.focus();
  }, [id]);
}

function PermissionCard(props: Acts & { question: Permission; cwd: string; place: string }): JSX.Element {
  const { question, cwd, place, rights, isOffline } = props;
  const [reason, setReason] = useState("");
  const [isSent, setSent] = useState(false);
  const reasonField = useRef<HTMLInputElement>(null);
  const { title, text, edits } = shownInput(question, cwd);
  const isDisabled = isOffline || isSent;
  const answer = (given: PermissionAnswer): void => {
    setSent(true);
    props.answerPermission(question, given);
    setTimeout(() => setSent(false), 3000); // it is still here: it did not arrive
  };
  const deny = (): void => answer({ decision: "deny", ...(reason.trim() !== "" && { message: reason.trim() }) });
  useAnswerKeys(!isDisabled && rights.mayApprove, {
    a: () => answer({ decision: "allow" }),
    w: () => answer({ decision: "allow", remember: "session" }),
    d: () => reasonField.current?.focus(),
  });
  const kbd = (key: string): JSX.Element | false => chosen("answer-keys") && <kbd class="kbd">{key}</kbd>;
  return (
    <section class="perm" id="ask" tabIndex={-1} aria-labelledby="perm-t">
      <div class="perm-h">
        <Icon name="waiting" class="c-waiting" />
        <h2 id="perm-t">{title}</h2>
        <span class="grow" />
        <span class="dimmer">
          <Since at={question.at} />
          {place}
        </span>
      </div>
      {edits.map((edit) => (
        <Diff key={edit.path} edit={edit} />
      ))}
      {edits.length === 0 && (
        <pre class="perm-c" tabIndex={0} role="group" aria-label="What would be done">
          {plain(text)}
        </pre>
      )}
      <p class="perm-f">
        <span>
          in <code>{plain(cwd)}</code>
        </span>
        {question.taskId !== undefined && <span>asked by a subagent</span>}
        {question.by === "hook" && <span>a hook wants it to be asked</span>}
      </p>
      <p class="perm-f dimmer">{plain(question.reason)}</p>
      <p class="perm-r">
        “Always allow” covers {question.rule !== undefined ? "this" : "every call of this tool"} until the session ends
        {question.rule !== undefined && (
          <>
            : <code>{plain(question.rule)}</code>
          </>
        )}
      </p>
      {rights.mayApprove ? (
        <div class="perm-b">
          <button type="button" class="btn btn-primary" disabled={isDisabled} onClick={() => answer({ decision: "allow" })}>
            Allow once {kbd("a")}
          </button>
          <button
            type="button"
            class="btn"
            disabled={isDisabled}
            onClick={() => answer({ decision: "allow", remember: "session" })}
          >
            Always allow {kbd("w")}
          </button>
          <span class="grow" />
          <label class="field">
            <span class="sr">Reason for the agent</span>
            <input
              ref={reasonField}
              placeholder="Reason, sent to the agent"
              value={reason}
              onInput={(event) => setReason(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === "Enter" && !isDisabled) deny();
                if (event.key === "Escape") event.currentTarget.blur();
              }}
            />
          </label>
          <button type="button" class="btn btn-danger" disabled={isDisabled} onClick={deny}>
            Deny {kbd("d")}
          </button>
        </div>
      ) : (
        <p class="perm-f">Your token may look, but not answer.</p>
      )}
    </section>
  );
}

type Prompt = {
  readonly type?: string;
  readonly message?: string;
  readonly description?: string;
  readonly masked?: boolean;
  readonly choices?: readonly { readonly value: string; readonly label?: string; readonly description?: string }[];
};

function QuestionCard(props: Acts & { question: Interaction; place: string }): JSX.Element {
  const { question, place, rights, isOffline } = props;
  const prompt = (question.prompt ?? {}) as Prompt;
  const { choices = [] } = prompt;
  const [value, setValue] = useState(choices[0]?.value ?? "");
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!isOffline) props.answerQuestion(question, value);
  };
  return (
    <form class="perm" id="ask" tabIndex={-1} aria-labelledby="q-t" onSubmit={submit}>
      <div class="perm-h">
        <Icon name="waiting" class="c-waiting" />
        <h2 id="q-t">{plain(prompt.message ?? `/${question.command} asks`)}</h2>
        <span class="grow" />
        <span class="dimmer">
          <Since at={question.at} />
          {place}
        </span>
      </div>
      {prompt.description !== undefined && <p class="perm-f">{plain(prompt.description)}</p>}
      {choices.length > 0 ? (
        <fieldset class="opts" disabled={!rights.mayDrive}>
          <legend class="sr">Answers</legend>
          {choices.map((choice) => (
            <label key={choice.value}>
              <input type="radio" name="answer" checked={value === choice.value} onChange={() => setValue(choice.value)} />
              <span>
                {plain(choice.label ?? choice.value)}
                {choice.description !== undefined && <small>{plain(choice.description)}</small>}
              </span>
            </label>
          ))}
        </fieldset>
      ) : (
        <div class="field">
          {prompt.masked ? (
            <input
              type="password"
              aria-label="Answer"
              autocomplete="off"
              value={value}
              onInput={(event) => setValue(event.currentTarget.value)}
            />
          ) : (
            <input
              aria-label="Answer"
              autocomplete="off"
              value={value}
              onInput={(event) => setValue(event.currentTarget.value)}
            />
          )}
        </div>
      )}
      {rights.mayDrive && (
        <div class="perm-b">
          <button type="submit" class="btn btn-primary" disabled={isOffline}>
            Answer
          </button>
          <button type="button" class="btn" disabled={isOffline} onClick={() => props.answerQuestion(question, undefined)}>
            Cancel the command
          </button>
        </div>
      )}
    </form>
  );
}

/** A command as it would be run, a change as it would be made: in full, whatever its length. */
function shownInput({ tool, input }: Permission, cwd: string): { title: string; text: string; edits: FileEdit[] } {
  const fields = (typeof input === "object" && input !== null ? input : {}) as Record<string, unknown>;
  if (typeof fields["command"] === "string") return { title: "Run this command?", text: fields["command"], edits: [] };
  const edits = editsInInput(input, cwd);
  if (edits.length > 0) return { title: `Let ${tool} change this file?`, text: "", edits };
  const text = typeof input === "string" ? input : JSON.stringify(input, null, 2);
  return { title: typeof fields["url"] === "string" ? "Open this address?" : `Allow ${tool}?`, text, edits: [] };
}

function Since({ at }: { at: string }): JSX.Element {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const ms = Math.max(0, now - Date.parse(at));
  return (
    <time dateTime={at}>asked {ms < 1000 ? "just now" : `${duration(Math.floor(ms / 1000) * 1000).replace(".0", "")} ago`}</time>
  );
}

/** Only where somebody has chosen it, and while the focus is on the card or nowhere. */
function useAnswerKeys(isOn: boolean, acts: Readonly<Record<string, () => void>>): void {
  const latest = useRef(acts);
  latest.current = acts;
  useEffect(() => {
    if (!isOn || !chosen("answer-keys")) return;
    const from = Date.now() + deafMs;
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || Date.now() < from) return;
      const focus = document.activeElement;
      const isFree = focus === null || focus === document.body || (focus.closest("#ask") !== null && focus.tagName !== "INPUT");
      const act = isFree ? latest.current[event.key] : undefined;
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [isOn]);
}
