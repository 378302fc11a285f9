import { useEffect, useState } from "preact/hooks";

/** Is the page put on paper? */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const before = (): void => setPrinting(true);
    const after = (): void => setPrinting(false);
    const onChange = ({ matches }: MediaQueryListEvent): void => setPrinting(matches);
    const media = matchMedia("print");
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    media.addEventListener("change", onChange);
    return () => {
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
      media.removeEventListener("change", onChange);
    };
  }, []);
  return isPrinting;
}
