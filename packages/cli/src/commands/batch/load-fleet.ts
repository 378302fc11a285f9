import type * as Fleet from "@outrider/fleet";
import { RuntimeError } from "@outrider/runtime";

/** The package is installed by those who use it. It is looked for beside the command, never in the folder somebody works in. */
export async function loadFleet(): Promise<typeof Fleet> {
  try {
    return await import("@outrider/fleet");
  } catch (error) {
    if (Object(error).code !== "ERR_MODULE_NOT_FOUND" || !String(error).includes("@outrider/fleet")) throw error;
    throw new RuntimeError("config", "Batches need the package @outrider/fleet, which is not installed beside this command", {
      hint: "npm install -g @outrider/fleet (or npm install @outrider/fleet where outrider is installed in a project)",
      cause: error,
    });
  }
}

/** In the standalone command the package also has what its worker processes run. */
export async function loadStandaloneFleet(): Promise<{ work(): Promise<never> }> {
  const { work } = (await loadFleet()) as typeof Fleet & { work(): void }; // the build of the standalone command adds it
  return {
    async work() {
      work();
      return await new Promise<never>(() => {}); // it ends with the process that started it
    },
  };
}

/** The package has a library of its own, and with it a class of errors of its own: the same failure in ours. */
export function asOurs(error: unknown): unknown {
  const { name } = Object(error);
  if (name === "EngineFailed") return new RuntimeError("config", (error as Error).message, { cause: error });
  if (name !== "RuntimeError") return error;
  const { code, message, hint, retryable } = error as RuntimeError; // of the other copy, or of ours
  // Somebody else works on it: it cannot be run, which is no word on how its tasks went.
  return new RuntimeError(code === "busy" ? "config" : code, message, {
    retryable,
    cause: error,
    ...(hint !== undefined && { hint }),
  });
}
