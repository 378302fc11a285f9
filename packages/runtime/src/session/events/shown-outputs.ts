import type { Redactor } from "../../util/redact.ts";
import type { Workspace } from "../../workspace/workspace.ts";

/** Outputs are kept as they are shown; what bash is to run is kept as it is. */
export function outputsShown(workspace: Workspace, redactor: Redactor): Workspace {
  return {
    ...workspace,
    saveOverflow: (name, content) => {
      const isText = typeof content === "string" && name.endsWith(".txt");
      return workspace.saveOverflow(name, isText ? redactor.text(content) : content);
    },
  };
}
