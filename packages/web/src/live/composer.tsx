import type { JSX, RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { count, dollars } from "../page/format.ts";
import { Icon } from "../page/icons.tsx";
import { plain } from "../page/text.tsx";
import type { Api } from "./api.ts";
import { efforts, type ModelChoice, modes } from "./choices.ts";
import { type Completion, useCompletion } from "./use-completion.ts";

type Props = {
  readonly api: Api;
  readonly sessionId: string | undefined;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly isWorking: boolean;
  readonly isOffline: boolean;
  readonly model: string | undefined;
  readonly mode: string | undefined;
  readonly effort: string | undefined;
  readonly models: readonly ModelChoice[];
  readonly context: { readonly usedTokens: number; readonly maxTokens: number } | undefined;
  readonly costUsd: number | undefined;
  readonly onWantModels: () => void;
  readonly onSettings: (change: { model?: string; effort?: string; permissionMode?: string }) => void;
  /** Resolves when the prompt is on record: only then the field is emptied. */
  readonly onSend: (text: string, how: "steer" | "queue") => Promise<boolean>;
  readonly onInterrupt: () => void;
};

/** Where a person writes. What was typed stays until the server has it. */
export function Composer(props: Props): JSX.Element {
  const { field, isWorking, isOffline, sessionId, context } = props;
  const [text, setText] = useState("");
  const [isSending, setSending] = useState(false);
  const { completion, look, close, move } = useCompletion(props.api, sessionId);
  useEffect(() => grow(field.current), [text]);

  const send = async (how: "steer" | "queue"): Promise<void> => {
    const given = text.trim();
    if (given === "" || isSending || isOffline) return;
    setSending(true);
    close();
    if (await props.onSend(given, how)) setText((now) => (now.trim() === given ? "" : now));
    setSending(false);
    field.current?.focus();
  };
  const take = (chosen: Completion, at: number): void => {
    const option = chosen.options[at];
    const cursor = field.current?.selectionStart ?? text.length;
    if (!option) return;
    const next = `${text.slice(0, chosen.from)}${option.text} `;
    setText(next + text.slice(cursor));
    close();
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(next.length, next.length);
    });
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (completion) {
      const act = { ArrowDown: () => move(1), ArrowUp: () => move(-1), Escape: close }[event.key];
      const isTaken = event.key === "Tab" || (event.key === "Enter" && !event.shiftKey && !event.altKey);
      if (act || isTaken) {
        event.preventDefault();
        event.stopPropagation();
        if (act) act();
        else take(completion, completion.at);
        return;
      }
    }
    if (event.key === "Escape" && isWorking) {
      event.preventDefault();
      event.stopPropagation();
      props.onInterrupt();
    }
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    void send(event.altKey ? "queue" : "steer");
  };
  const insert = (sign: "@" | "/"): void => {
    const next = sign === "/" ? "/" : `${text}${text === "" || text.endsWith(" ") ? "" : " "}@`;
    setText(next);
    field.current?.focus();
    void look(next, next.length);
  };
  const isKnown = props.models.some(({ id }) => id === props.model);
  return (
    <form
      class="comp"
      onSubmit={(event) => {
        event.preventDefault();
        void send("steer");
      }}
    >
      {completion && <Options completion={completion} onTake={(at) => take(completion, at)} />}
      <label class="sr" for="prompt">
        Message to the agent
      </label>
      <textarea
        ref={field}
        id="prompt"
        rows={2}
        aria-controls={completion ? "complete" : undefined}
        aria-activedescendant={completion ? `complete-${completion.at}` : undefined}
        aria-autocomplete="list"
        placeholder={
          sessionId === undefined
            ? "What should the agent do?"
            : isWorking
              ? "Steer the agent, or queue what comes next"
              : "Ask for more"
        }
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          void look(event.currentTarget.value, event.currentTarget.selectionStart);
        }}
        onKeyDown={onKey}
        onBlur={() => setTimeout(close, 200)}
      />
      <div class="comp-b">
        {sessionId !== undefined && (
          <>
            <button type="button" class="btn btn-quiet btn-i" aria-label="Mention a file" onClick={() => insert("@")}>
              <span class="mono">@</span>
            </button>
            <button type="button" class="btn btn-quiet btn-i" aria-label="Commands" onClick={() => insert("/")}>
              <span class="mono">/</span>
            </button>
            <span class="vr" />
          </>
        )}
        <Select
          label="Model"
          value={props.model ?? ""}
          isDisabled={isOffline}
          onFocus={props.onWantModels}
          onChange={(model) => props.onSettings({ model })}
          options={[
            ...(isKnown ? [] : [{ value: props.model ?? "", word: props.model ?? "usual model" }]),
            ...props.models.map(({ id }) => ({ value: id, word: id })),
          ]}
        />
        <Select
          label="Effort"
          word="effort"
          value={props.effort ?? ""}
          isDisabled={isOffline}
          onChange={(effort) => props.onSettings({ effort })}
          options={[
            ...(props.effort === undefined ? [{ value: "", word: "usual" }] : []),
            ...efforts.map((name) => ({ value: name, word: name })),
          ]}
        />
        <Select
          label="Permission mode"
          word="mode"
          value={props.mode ?? ""}
          isDisabled={isOffline}
          onChange={(permissionMode) => props.onSettings({ permissionMode })}
          options={[
            ...(props.mode === undefined || !modes.includes(props.mode)
              ? [{ value: props.mode ?? "", word: props.mode ?? "usual" }]
              : []),
            ...modes.map((name) => ({ value: name, word: name })),
          ]}
        />
        <span class="grow" />
        {sessionId !== undefined && (
          <span class="meterline" title={context && `Context ${count(context.usedTokens)} of ${count(context.maxTokens)} tokens`}>
            <b>{dollars(props.costUsd)}</b>
          </span>
        )}
        {isWorking && (
          <button type="button" class="btn hide-s" disabled={isOffline || isSending} onClick={() => void send("queue")}>
            Queue
          </button>
        )}
        <button type="submit" class="btn btn-primary" disabled={isOffline || isSending}>
          <Icon name="send" class="i-s" />
          {sessionId === undefined ? "Start" : isWorking ? "Steer" : "Send"}
        </button>
      </div>
    </form>
  );
}

function Options({ completion, onTake }: { completion: Completion; onTake: (at: number) => void }): JSX.Element {
  return (
    <div class="pop complete" id="complete" role="listbox" aria-label={completion.kind === "file" ? "Files" : "Commands"}>
      {completion.options.map(({ text, note }, at) => (
        <div
          key={text}
          id={`complete-${at}`}
          class="opt"
          role="option"
          tabIndex={-1}
          aria-selected={at === completion.at}
          onMouseDown={(event) => {
            event.preventDefault();
            onTake(at);
          }}
        >
          <Icon name={completion.kind === "file" ? "read" : "list"} class="i-s" />
          <span>{plain(text)}</span>
          <span class="dimmer trunc">{note === undefined ? "" : plain(note)}</span>
        </div>
      ))}
    </div>
  );
}

type SelectProps = {
  readonly label: string;
  readonly word?: string;
  readonly value: string;
  readonly isDisabled: boolean;
  readonly options: readonly { readonly value: string; readonly word: string }[];
  readonly onChange: (value: string) => void;
  readonly onFocus?: () => void;
};

function Select({ label, word, value, isDisabled, options, onChange, onFocus }: SelectProps): JSX.Element {
  return (
    <span class={`selwrap${word === undefined ? "" : " hide-s"}`}>
      {word !== undefined && <span class="lab">{word}</span>}
      <select
        class="select"
        aria-label={label}
        value={value}
        disabled={isDisabled}
        onFocus={onFocus}
        onChange={(event) => event.currentTarget.value !== "" && onChange(event.currentTarget.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.word}
          </option>
        ))}
      </select>
      <Icon name="down" class="i-s" />
    </span>
  );
}

/** As high as what is in it, up to a third of the window. */
function grow(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, innerHeight / 3)}px`;
}
