import { parsePermissionUpdate } from "../../permissions/permission-update.ts";
import type { Effort } from "../../model/model.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import { RuntimeError } from "../../protocol/errors.ts";
import { toPermissionMode } from "../../protocol/permission.ts";
import type { SessionControls } from "../../session/session-controls.ts";
import { defined } from "../../util/defined.ts";

type Targets = { readonly controls: SessionControls; readonly resolveModel: (name: string) => Promise<string> };
type Change = (controls: SessionControls) => void | Promise<void>;

/** Settings that a host changes while the session lives. What cannot be changed then is refused, and nothing of that request is done. */
export class FlagSettings {
  /** The rules and folders of the last request: another one takes their place. */
  #permissions: JsonObject[] = [];

  async apply(settings: JsonObject, { controls, resolveModel }: Targets): Promise<void> {
    const changes = Object.entries(settings).map(([key, value]) => this.#read(key, value, resolveModel));
    for (const change of await Promise.all(changes)) await change(controls);
  }

  async #read(key: string, value: JsonValue, resolveModel: Targets["resolveModel"]): Promise<Change> {
    if (key === "model" && (value === null || typeof value === "string")) {
      const model = value === null || value === "default" ? undefined : await resolveModel(value);
      return (controls) => void controls.setModel(model);
    }
    if (key === "effortLevel" && (value === null || (typeof value === "string" && Object.hasOwn(efforts, value))))
      return (controls) => controls.setEffort(value === null ? undefined : efforts[value]);
    if (key === "permissions" && (value === null || isJsonObject(value))) return this.#readPermissions(value ?? {});
    throw new RuntimeError("usage", `The setting ${JSON.stringify(key)} cannot be changed to that while the session runs`, {
      hint: "model, effortLevel and permissions can",
    });
  }

  #readPermissions(value: JsonObject): Change {
    const unknown = Object.keys(value).find((key) => ![...behaviors, "defaultMode", "additionalDirectories"].includes(key));
    if (unknown !== undefined) throw new RuntimeError("usage", `permissions.${unknown} cannot be changed while the session runs`);
    const { defaultMode: word, additionalDirectories: directories } = value;
    const mode = toPermissionMode(word);
    if (word !== undefined && !mode) throw new RuntimeError("usage", `There is no permission mode ${String(word)}`);
    const fresh: JsonObject[] = [
      ...behaviors.flatMap((behavior) => toRules(behavior, value[behavior])),
      ...(directories === undefined ? [] : [{ type: "addDirectories", directories }]),
    ];
    for (const update of fresh) parsePermissionUpdate(update); // before anything is changed
    return async (controls) => {
      for (const update of this.#permissions) await controls.updatePermissions(parsePermissionUpdate(takenBack(update)));
      for (const update of fresh) await controls.updatePermissions(parsePermissionUpdate(update));
      this.#permissions = fresh;
      if (mode !== undefined) controls.setPermissionMode(mode);
    };
  }
}

const behaviors = ["allow", "ask", "deny"] as const;

const efforts: Readonly<Record<string, Effort>> = {
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "xhigh",
  max: "max",
};

function toRules(behavior: string, rules: JsonValue | undefined): JsonObject[] {
  if (rules === undefined) return [];
  const texts = Array.isArray(rules) ? rules : [rules];
  const parsed = texts.map((text): JsonObject => {
    const [, toolName = String(text), ruleContent] = /^([^(]+)(?:\((.*)\))?$/s.exec(String(text)) ?? [];
    return { toolName, ...defined({ ruleContent }) };
  });
  return [{ type: "addRules", behavior, rules: parsed }];
}

function takenBack(update: JsonObject): JsonObject {
  return { ...update, type: update["type"] === "addRules" ? "removeRules" : "removeDirectories" };
}
