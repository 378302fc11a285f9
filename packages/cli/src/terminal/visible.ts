/** The width that usage texts are written for. */
const widest = 120;

/** Texts come from files nobody vouches for: what could rewrite a terminal, or hide in it, is shown as it is written. */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029\ud800-\udfff]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

/** All of it, to stdout; also when nobody reads any more. A usage text is fitted into a narrow terminal. */
export async function print(given: string, output: NodeJS.WritableStream = process.stdout): Promise<void> {
  const { columns } = process.stdout;
  const isWide = columns === undefined || columns >= widest || !given.startsWith("Usage:");
  const text = isWide ? given : (await import("./narrow-usage.ts")).narrowUsage(given, columns);
  await new Promise<void>((done) => {
    const onError = (): void => done();
    output.once("error", onError);
    output.write(text, (error) => {
      // A write that failed says so here first, and then as an event, which somebody must hear.
      if (error) setImmediate(() => output.off("error", onError));
      else output.off("error", onError);
      done();
    });
  });
}
