/** An event of a stream. `data` only where it is a message; `rest` is all else that it says, as it came. */
export type MessageEvent = { readonly id?: string; readonly data?: string; readonly rest: string };

/** The same with these messages in the place of its own. */
export function toEventText({ rest }: MessageEvent, messages: readonly object[]): string {
  if (messages.length === 0) return rest === "" ? "" : `${rest}\n`;
  return rest + messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join("");
}

/** The events of a stream whose chunks are whole lines or parts of them. */
export async function* messageEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<MessageEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  let lines: string[] = [];
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const line = part.endsWith("\r") ? part.slice(0, -1) : part;
      if (line !== "") lines.push(line);
      else if (lines.length > 0) {
        yield toEvent(lines);
        lines = [];
      }
    }
  }
}

function toEvent(all: readonly string[]): MessageEvent {
  const fields = all.map((line) => {
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    return { line, name, value };
  });
  const valuesOf = (wanted: string): string[] => fields.filter(({ name }) => name === wanted).map(({ value }) => value);
  const kind = valuesOf("event").at(-1) ?? "";
  const id = valuesOf("id").at(-1);
  const data = valuesOf("data");
  const isMessage = data.join("") !== "" && (kind === "" || kind === "message");
  const others = isMessage ? fields.filter(({ name }) => name !== "data" && name !== "event") : fields;
  return {
    ...(id !== undefined && { id }),
    ...(isMessage && { data: data.join("\n") }),
    rest: others.map(({ line }) => `${line}\n`).join(""),
  };
}
