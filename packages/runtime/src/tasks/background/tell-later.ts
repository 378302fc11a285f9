const deltaMs = 200;
const deltaCharacters = 2_000;

/** A task may say a thousand things a second: whoever watches hears the latest of them, a few times a second. */
export function tellLater(tell: (text: string) => void): { add(text: string): void; stop(): void } {
  let text = "";
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    const said = text;
    text = "";
    if (said !== "") tell(said);
  };
  return {
    add(more) {
      text = (text + more).slice(-deltaCharacters);
      timer ??= setTimeout(flush, deltaMs);
    },
    stop() {
      if (timer === undefined) return;
      clearTimeout(timer);
      flush();
    },
  };
}
