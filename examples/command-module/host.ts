import { SessionHost } from "@outrider/runtime";
import { createNotesModule } from "./notes.ts";

/** Sessions as the command would open them here, with `/notes` in each. SCRIPT names a file whose replies stand in for a model. */
export function openHost(): SessionHost {
  const script = process.env["SCRIPT"];
  const model = script === undefined ? {} : { provider: "scripted", model: script };
  return new SessionHost({ defaults: { ...model, options: { commandModules: [createNotesModule()] } } });
}
