export type Result = { is_error: boolean; subtype: string; result?: string; errors?: string[]; error?: { code: string } };

/** What is wrong with an output of frames; empty when every line is whole and there are as many results as there should be. */
export function checkLines(
  stdout: string,
  { results = 1, cut = false }: { results?: number; cut?: boolean } = {},
): {
  wrong: string[];
  last: Result | undefined;
} {
  const wrong: string[] = [];
  const lines = stdout.split("\n");
  const rest = lines.pop() ?? "";
  if (rest !== "" && !cut) wrong.push(`a line is cut: ${rest.slice(0, 120)}`);
  const found: Result[] = [];
  for (const line of lines) {
    const frame = parse(line);
    if (!frame) wrong.push(`no JSON: ${line.slice(0, 120)}`);
    else if (frame.type === "result") found.push(frame as Result); // checked field by field below
    if (Buffer.byteLength(line) >= 1_000_000) wrong.push(`a line of ${Buffer.byteLength(line)} bytes`);
  }
  if (found.length !== results) wrong.push(`${found.length} results, not ${results}`);
  for (const result of found) {
    const honest = result.is_error === (result.subtype !== "success") && result.is_error === (result.errors !== undefined);
    if (!honest || (result.is_error && !result.error?.code))
      wrong.push(`a result that is not one: ${JSON.stringify(result).slice(0, 300)}`);
  }
  return { wrong, last: found.at(-1) };
}

function parse(line: string): { type?: string } | undefined {
  try {
    return JSON.parse(line) as { type?: string }; // looked at only by its type
  } catch {
    return undefined;
  }
}
