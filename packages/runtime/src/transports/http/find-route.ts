import type { Route } from "./route.ts";
import { HttpProblem } from "./problem.ts";
import { RuntimeError } from "../../protocol/errors.ts";

export type FoundRoute = { readonly route: Route; readonly params: Readonly<Record<string, string>> };

/** Ids are what file names may be: nothing in them leads anywhere else. */
const idPattern = /^[A-Za-z0-9][\w.:-]{0,199}$/;

/** By method and path, segment by segment. */
export function findRoute(routes: readonly Route[], method: string, path: string): FoundRoute {
  const matching = routes.flatMap((route) => {
    const params = match(route.path, path);
    return params ? [{ route, params }] : [];
  });
  if (matching.length === 0) throw new RuntimeError("not-found", "There is nothing at this address");
  const found = matching.find(({ route }) => route.method === (method === "HEAD" ? "GET" : method));
  if (found) return found;
  const allow = matching.flatMap(({ route }) => (route.method === "GET" ? ["GET", "HEAD"] : [route.method])).join(", ");
  throw new HttpProblem("method-not-allowed", `This address takes ${allow}`, { headers: { allow } });
}

function match(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const text = given[index] ?? "";
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name === undefined) {
      if (segment !== text) return undefined;
      continue;
    }
    const value = decode(text);
    if (value === undefined || !idPattern.test(value)) return undefined;
    params[name] = value;
  }
  return params;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
