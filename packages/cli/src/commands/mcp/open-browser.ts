/** Opens an address in the user's browser: `$BROWSER`, else the system's. Says nothing when there is none: the address was shown. */
export async function openBrowser(url: URL): Promise<void> {
  const own = process.env["BROWSER"];
  const command = own || (process.platform === "darwin" ? "open" : "xdg-open");
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(command, [url.href], { stdio: "ignore", detached: true });
  await new Promise<void>((resolve) => {
    child.once("spawn", resolve);
    child.once("error", () => resolve());
  });
  child.unref();
}
