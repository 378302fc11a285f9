import { useEffect, useRef, useState } from "preact/hooks";
import type { Api } from "./api.ts";

export type Option = { readonly text: string; readonly note?: string | undefined };
export type Completion = {
  readonly kind: "file" | "command";
  readonly options: readonly Option[];
  readonly at: number;
  /** Where the word begins that is completed. */
  readonly from: number;
};

type Command = { readonly name: string; readonly description?: string };

/** What may stand where the cursor is: a file behind `@`, a command behind a `/` that begins the prompt. */
export function useCompletion(api: Api, sessionId: string | undefined) {
  const [completion, setCompletion] = useState<Completion>();
  const commands = useRef<Promise<Command[]> | undefined>(undefined);
  const turn = useRef(0);
  useEffect(() => {
    commands.current = undefined;
    setCompletion(undefined);
  }, [sessionId]);

  const look = async (text: string, cursor: number): Promise<void> => {
    const own = ++turn.current;
    const found = sessionId === undefined ? undefined : await find(text, cursor).catch(() => undefined); // it can be typed without
    if (own === turn.current) setCompletion(found && found.options.length > 0 ? found : undefined);
  };
  const find = async (text: string, cursor: number): Promise<Completion | undefined> => {
    const before = text.slice(0, cursor);
    const command = /^\/([\w:-]*)$/.exec(before);
    if (command) {
      commands.current ??= api.get<{ commands: Command[] }>(`/v1/sessions/${sessionId}/commands`).then((said) => said.commands);
      const wanted = (command[1] ?? "").toLowerCase();
      const fitting = (await commands.current).filter(({ name }) => name.toLowerCase().includes(wanted));
      fitting.sort((one, other) => Number(other.name.startsWith(wanted)) - Number(one.name.startsWith(wanted)));
      const options = fitting.slice(0, 12).map(({ name, description }) => ({ text: `/${name}`, note: description }));
      return { kind: "command", options, at: 0, from: 0 };
    }
    const file = /(?:^|\s)@([^\s"@]*)$/.exec(before);
    if (!file) return undefined;
    const wanted = file[1] ?? "";
    const query = wanted === "" ? "" : `?query=${encodeURIComponent(wanted)}`;
    const { files } = await api.get<{ files: string[] }>(`/v1/sessions/${sessionId}/files${query}`);
    const options = files.slice(0, 12).map((path) => ({ text: /\s/.test(path) ? `@"${path}"` : `@${path}` }));
    return { kind: "file", options, at: 0, from: cursor - wanted.length - 1 };
  };
  const close = (): void => {
    turn.current++;
    setCompletion(undefined);
  };
  const move = (by: number): void =>
    setCompletion((now) => now && { ...now, at: (now.at + by + now.options.length) % now.options.length });
  return { completion, look, close, move };
}
