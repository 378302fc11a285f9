// For tests of runners: what a model answers that does what it was told last, in a few words.
export function play(request) {
  const told = request.messages
    .filter(({ role }) => role === "user")
    .map(({ content }) => content.map(({ text = "" }) => text).join(""));
  const words = told.at(-1) ?? "";
  const isFirst = request.messages.at(-1)?.role === "user";
  const call = (name, input) => ({ text: "Looking.", calls: [{ name, input }] });
  const file = words.split(" ")[1] ?? "";
  if (words.startsWith("say ")) return { text: words.slice(4) };
  if (words === "name tools") return { text: request.tools.map(({ name }) => name).join(" ") };
  if (words === "hang") return { hang: true };
  if (words === "fail" || (words.endsWith("then fail") && !isFirst))
    return { fail: { code: "not-found", message: "No such model" } };
  if (words === "crash") process.kill(process.pid, "SIGKILL");
  if (!isFirst) return words.endsWith("hang") ? { hang: true } : { text: "Done." };
  if (words.startsWith("read ")) return call("Read", { file_path: file });
  if (words.startsWith("write ")) return call("Write", { file_path: file, content: "x" });
  if (words === "wait for go") return call("Bash", { command: "while [ ! -e go ]; do sleep 0.02; done" });
  return { text: "What?" };
}
