/**
 * Does a `go.mod` or `go.work` make go start another copy of itself? It names the version it needs, and the toolchain it would like. `own` is
 * what go's own file `VERSION` says; undefined where that is not known.
 */
export function switchesToolchain(text: string, own: string | undefined): boolean {
  const [, installed] = /^go(\d[\d.]*)/.exec(own ?? "") ?? [];
  const wanted = [...text.matchAll(/^[ \t]*(?:go[ \t]+|toolchain[ \t]+go)(\S+)/gm)].map(([, version = ""]) => version);
  const named = [...text.matchAll(/^[ \t]*toolchain[ \t]+(\S+)/gm)].map(([, name = ""]) => name);
  if (named.some((name) => !/^(?:go\d[\d.]*|default|local)$/.test(name))) return true;
  return wanted.some((version) => installed === undefined || isNewer(version, installed));
}

function isNewer(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.split(".").map((part) => Number.parseInt(part, 10) || 0));
  for (let at = 0; at < 3; at++) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0);
    if (difference > 0) return true;
    if (difference < 0) return false;
  }
  return false;
}
