/** One server-sent event. */
export type RawFrame = { readonly id: string | undefined; readonly data: string };

/** The events of a response, as far as it comes. */
export async function* readFrames(response: Response): AsyncGenerator<RawFrame> {
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = `${rest}${decoder.decode(value, { stream: true })}`.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const frame = parseFrame(block);
        if (frame) yield frame;
      }
    }
  } finally {
    await reader.cancel().catch(() => {}); // whoever stops reading hangs up
  }
}

function parseFrame(block: string): RawFrame | undefined {
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("id: ")) id = line.slice(4);
    else if (line.startsWith("data: ")) data.push(line.slice(6));
  }
  return data.length === 0 ? undefined : { id, data: data.join("\n") };
}
