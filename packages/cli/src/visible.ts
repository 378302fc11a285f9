/** Texts come from files nobody vouches for: what could rewrite a terminal, or hide in it, is shown as it is written. */
export function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029\ud800-\udfff]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

/** All of it, to stdout; also when nobody reads any more. */
export async function print(text: string): Promise<void> {
  await new Promise<void>((done) => {
    process.stdout.once("error", () => done());
    process.stdout.write(text, () => done());
  });
}
