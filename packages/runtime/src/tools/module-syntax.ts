/**
 * The syntax error of a JavaScript module. Node tells it only where modules may be made of text, so a thread of its own has that
 * switched on: it parses the text, and neither links nor runs it. Undefined where there is no error, or none can be told.
 */
export async function findModuleError(text: string): Promise<string | undefined> {
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const worker = new Worker(parse, {
    eval: true,
    workerData: text,
    execArgv: ["--experimental-vm-modules", "--no-warnings"],
    env: {},
    stdout: true,
    stderr: true,
  });
  return await new Promise((resolve) => {
    worker.once("message", (found: unknown) => resolve(typeof found === "string" ? found : undefined));
    worker.once("error", () => resolve(undefined));
    worker.once("exit", () => resolve(undefined));
  });
}

const parse = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { SourceTextModule } = require("node:vm");
  let found;
  try {
    new SourceTextModule(workerData);
  } catch (error) {
    found = error instanceof SyntaxError ? error.message : undefined;
  }
  parentPort.postMessage(found);
`;
