import { isAbsolute, relative } from "node:path";

/** How a path is named to the model: from the workspace root when it lies inside, whole otherwise. */
export function displayPath(root: string, path: string): string {
  const inside = relative(root, path);
  if (inside === "") return ".";
  return inside === ".." || inside.startsWith("../") || isAbsolute(inside) ? path : inside;
}
