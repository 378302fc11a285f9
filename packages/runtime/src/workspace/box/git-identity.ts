import type { Workspace } from "../workspace.ts";

/** The user's name and address for commits, as a git configuration of its own; nothing else of theirs is in it. */
export async function gitIdentity(workspace: Workspace): Promise<string | undefined> {
  let text = "";
  try {
    await workspace.run({
      file: "git",
      args: ["config", "--global", "--null", "--get-regexp", "^(user\\.(name|email)|init\\.defaultbranch)$"],
      cwd: "/",
      timeoutMs: 5_000,
      signal: new AbortController().signal,
      unboxed: true,
      onOutput: ({ stream, bytes }) => {
        if (stream === "stdout") text += Buffer.from(bytes).toString("utf8");
      },
    });
  } catch {
    return undefined; // no git: nobody will commit
  }
  const lines = text.split("\0").flatMap((entry) => {
    const [key = "", value] = entry.split("\n");
    const [section, name] = key.split(".");
    return section && name && value ? [`[${section}]\n\t${name} = ${JSON.stringify(value)}\n`] : [];
  });
  return lines.length === 0 ? undefined : lines.join("");
}
