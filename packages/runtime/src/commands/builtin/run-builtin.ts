import { RuntimeError } from "../../protocol/errors.ts";
import { type PermissionMode, permissionModes } from "../../protocol/permission.ts";
import { nearest } from "../../util/nearest.ts";
import type { CommandEffect, CommandHostContext, CommandResult } from "../command.ts";
import { rewind } from "./rewind.ts";

type Run = (context: CommandHostContext, args: string) => Promise<CommandResult> | CommandResult;

const runs: Readonly<Record<string, Run>> = {
  help: ({ listCommands }) => {
    const lines = listCommands().map(({ name, description, argumentHint }) => {
      return `/${[name, argumentHint].filter(Boolean).join(" ")}: ${description}`;
    });
    return say(lines.join("\n"));
  },
  skills,
  context: contextUse,
  cost: async (context) => {
    const { messageCount } = await context.getSessionInfo();
    return say(`${await context.describeCost()}\nSession: ${context.sessionId}, ${messageCount} messages`);
  },
  memory: (context, args) => context.executeMemory(args, context.invokedBy),
  agent: async (context, args) => await (await import("./agent.ts")).agent(context, args),
  background: async (context, args) => await (await import("./background.ts")).background(context, args),
  mode: permissions,
  plugin: async (context, args) => {
    const run = context.getCommandHostAdapters().plugins;
    return run ? await run(args) : refuse("Plugins cannot be changed from here: outrider plugins does it");
  },
  model,
  "output-style": async (context, args) => {
    const run = context.getCommandHostAdapters().outputStyle;
    return run ? await run(args) : refuse("There are no styles here: the setting outputStyle names one");
  },
  permissions,
  provider,
  "user-local": async (context, args) => {
    const run = context.getCommandHostAdapters().userLocal;
    return run ? await run(args) : refuse("Nothing is kept for the user here: outrider user-local does it");
  },
  rename: (_, args) => {
    const name = args.trim().replace(/\s+/g, " ").slice(0, 200);
    if (name === "") return refuse("A name is needed: /rename NAME");
    return say(`The session is called ${name}`, { type: "session-renamed", name });
  },
  clear: () => say("The conversation begins anew", { type: "conversation-history-cleared" }),
  rewind,
  "reload-plugins": () => say("Plugins were looked for again", { type: "plugin-registry-reload-requested" }),
  "validate-session": async (context) => {
    const { ok, text } = await context.validateSession();
    return { success: ok, message: text };
  },
  exit: () => say("The session ends", { type: "session-exit-requested", reason: "prompt_input_exit" }),
  resume: () => say("Choose a session", { type: "session-picker-requested" }),
  reset: () => say("The settings are deleted", { type: "settings-reset-requested" }),
  language: async (context, args) => {
    const { language: run, applyEffect } = context.getCommandHostAdapters();
    const language = args.trim();
    if (run && (!applyEffect || language === "")) return await run(args); // a program with a screen changes it at once
    if (language === "") return refuse("A language is needed: /language LANGUAGE");
    return say(`Answers are written in ${language}`, { type: "language-change-requested", language });
  },
  statusline: async (context, args) => {
    if (args.trim() === "") {
      const data = await context.getStatusLine();
      return { success: true, message: JSON.stringify(data), data };
    }
    const [, key = "", value = ""] = /^(\S+)\s+(\S.*)$/s.exec(args.trim()) ?? [];
    if (key === "") return refuse("A key and a value are needed: /statusline KEY VALUE");
    return say(`${key} is ${value}`, { type: "statusline-settings-patch", patch: { [key]: value } });
  },
};

export async function runBuiltin(name: string, context: CommandHostContext, args: string): Promise<CommandResult> {
  const run = runs[name];
  if (!run) throw new RuntimeError("internal", `The command ${name} is listed and cannot be run`);
  return await run(context, args);
}

function say(message: string, effect?: CommandEffect): CommandResult {
  return { success: true, message, ...(effect && { effects: [effect] }) };
}

function refuse(message: string): CommandResult {
  return { success: false, message };
}

async function skills(context: CommandHostContext, args: string): Promise<CommandResult> {
  const [, name = "", rest = ""] = /^\s*(\S*)\s*(.*)$/s.exec(args) ?? [];
  if (name !== "") return await context.executeSkillCommandByName(name, rest, { invocationSource: "user" });
  const lines = context.listSkills().map((skill) => `/${skill.name}: ${skill.description}`);
  return say(lines.length === 0 ? "There are no skills" : lines.join("\n"));
}

async function contextUse(context: CommandHostContext, args: string): Promise<CommandResult> {
  const words = args.trim().split(/\s+/).filter(Boolean);
  if (words[0] === "auto") {
    const share = words[1] === "off" ? false : Number(words[1]?.replace(/%$/, "")) / 100;
    if (share !== false && !(share > 0 && share <= 1)) return refuse("A share is needed: /context auto 80, or /context auto off");
    await context.setAutoCompactThreshold(share);
  } else if (words.length > 0) return await contextFiles(context, args.trim());
  const [use, { describeUse }] = await Promise.all([context.contextUse(), import("../describe-context.ts")]);
  return { success: true, message: describeUse(use), data: use };
}

async function contextFiles(context: CommandHostContext, args: string): Promise<CommandResult> {
  const [, action = "", name = ""] = /^(\S+)\s*(.*)$/s.exec(args) ?? [];
  const files = await context.references();
  if (action === "list" && name === "") {
    const listed = files.list();
    const lines = listed.map(({ path, status }) => `${status === "active" ? "with every prompt" : "named in a prompt"}: ${path}`);
    return { ...say(lines.join("\n") || "No file was named or added"), data: { references: listed } };
  }
  if (action === "clear" && name === "") {
    files.clear();
    return say("No file comes with every prompt any more");
  }
  if (action === "add" && name !== "")
    return say(`${await files.add(name)} comes with every prompt from now on, when it is new or has changed`);
  if (action === "remove" && name !== "") {
    await files.remove(name);
    return say(`${name} comes with prompts no longer`);
  }
  return refuse("There is /context, /context auto PERCENT|off, and /context list, add FILE, remove FILE and clear");
}

async function model(context: CommandHostContext, args: string): Promise<CommandResult> {
  const wanted = args.trim();
  const { provider, model: current } = await context.getSessionInfo();
  const { models, isKnown } = await context.listModels();
  if (wanted === "") {
    const others = isKnown ? `Known: ${models.join(", ")}` : `What models ${provider} has is not known here`;
    return {
      ...say(`${provider}/${current}\n${others}. /model MODEL takes any name`),
      data: { provider, model: current, models: [...models] },
    };
  }
  if (/\s/.test(wanted)) return refuse(`${JSON.stringify(wanted)} is no name of a model`);
  const meant = await context.resolveModel(wanted);
  if (meant !== wanted) return say(`The model is ${meant} now`, { type: "model-change-requested", modelId: meant });
  const guess = isKnown && !models.includes(wanted) ? nearest(wanted, models) : undefined;
  const doubt = !isKnown || models.includes(wanted) ? "" : ` It is not in the list${guess ? `, where ${guess} is` : ""}.`;
  return say(`The model is ${wanted} now.${doubt}`, { type: "model-change-requested", modelId: wanted });
}

async function provider(context: CommandHostContext, args: string): Promise<CommandResult> {
  const info = await context.getSessionInfo();
  if (["", "current"].includes(args.trim()))
    return { ...say(`${info.provider}/${info.model}`), data: { provider: info.provider, model: info.model } };
  const run = context.getCommandHostAdapters().providerSettings;
  return run ? await run(args) : refuse("Profiles cannot be changed from here: outrider providers does it");
}

async function permissions(context: CommandHostContext, args: string): Promise<CommandResult> {
  const wanted = args.trim();
  if (wanted !== "") {
    const mode = permissionModes.find((known): known is PermissionMode => known === wanted);
    if (!mode) return refuse(`There is no mode ${JSON.stringify(wanted)}; there are ${permissionModes.join(", ")}`);
    await context.setPermissionMode(mode);
  }
  const { mode, allow } = await context.getPermissions();
  const rules = allow.length === 0 ? "No rule allows more" : `Allowed: ${allow.join(", ")}`;
  return { ...say(`Mode ${mode}. ${rules}`), data: { mode, allow: [...allow] } };
}
