import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();

/** The library in a project as npm would install it: from the packed tarball, with what it depends on and Node's types. No network is used. */
export function installLibrary(project: string, more: readonly string[] = []): string {
  const place = join(project, "node_modules/@outrider/runtime");
  const packed = mkdtempSync(join(tmpdir(), "outrider-packed-"));
  try {
    const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", packed, "--workspace", "packages/runtime"];
    const [{ filename }] = JSON.parse(
      execFileSync("npm", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
    );
    mkdirSync(place, { recursive: true });
    execFileSync("tar", ["-xzf", join(packed, filename), "-C", place, "--strip-components=1"]);
  } finally {
    rmSync(packed, { recursive: true, force: true });
  }
  const { dependencies } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
  for (const name of [...Object.keys(dependencies), "@types/node", "undici-types", ...more])
    cpSync(join(root, "node_modules", name), join(project, "node_modules", name), { recursive: true });
  return place;
}
