import { compactCommand } from "../compact.ts";
import type { SystemCommand } from "../command.ts";

type Row = readonly [name: string, description: string, argumentHint?: string];

/** What every session can do beside `/compact`. How is loaded when somebody wants it. */
const rows: readonly Row[] = [
  [
    "agent",
    "The agents there are, or have one do something",
    "[list | run AGENT PROMPT | parallel … | wait | read | send | stop | close]",
  ],
  ["background", "What goes on beside the conversation", "[list | read ID [OFFSET] | cancel ID | close ID]"],
  ["clear", "Begin anew: nothing said so far is sent any more"],
  ["context", "What fills the model's context window", "[auto PERCENT|off | list | add FILE | remove FILE | clear]"],
  ["cost", "What the session has cost so far"],
  ["exit", "End the session"],
  ["help", "What may be typed"],
  ["language", "Which language answers are written in", "[LANGUAGE]"],
  [
    "memory",
    "What later sessions of the project should know",
    "list | show [TOPIC] | add TYPE TOPIC TEXT | pending | approve ID | reject ID | used",
  ],
  ["model", "The model, or another one of the provider", "[MODEL]"],
  ["mode", "The permission mode, or another one", "[MODE]"],
  ["output-style", "How answers are written, or another way", "[STYLE]"],
  ["permissions", "The permission mode, or another one", "[MODE]"],
  ["plugin", "The plugins, and whether they count", "[list | install | uninstall | enable | disable | marketplace]"],
  ["provider", "Who is asked, and the profiles there are", "[list | use PROFILE | test [NAME] | add …]"],
  ["reload-plugins", "Look for plugins again, with all their parts"],
  ["rename", "Name the session", "NAME"],
  ["reset", "Delete the user's settings"],
  ["resume", "Go on with another session"],
  ["rewind", "Files as they were before a prompt", "[list|inspect ID|restore ID|rollback ID]"],
  ["skills", "The skills, or use one", "[NAME [ARGUMENTS]]"],
  ["statusline", "What a status line shows, as JSON", "[KEY VALUE]"],
  ["user-local", "What is kept for you alone, outside of the project", "storage list | memory list|inspect|set|disable|delete …"],
  ["validate-session", "Whether the record of the session can be replayed"],
];

/** Prompts that everybody knows by a name. The model is asked; what for is loaded when somebody types one. */
export const builtinPrompts: readonly { readonly name: string; readonly description: string }[] = [
  { name: "init", description: "Write down for agents how to work here" },
  ...["review", "code-review"].map((name) => ({ name, description: "Review a change" })),
  { name: "security-review", description: "Review the security of a change" },
  { name: "simplify", description: "Make a change simpler" },
];

/** Nothing may be said while it is forgotten, and nothing be done while tools and hooks change. */
const blocking: ReadonlySet<string> = new Set(["clear", "reload-plugins"]);

export const builtinCommands: readonly SystemCommand[] = [
  compactCommand,
  ...rows.map(([name, description, argumentHint]): SystemCommand => {
    return {
      name,
      description,
      lifecycle: blocking.has(name) ? "blocking" : "inline",
      ...(argumentHint && { argumentHint }),
      async execute(context, args) {
        const { runBuiltin } = await import("./run-builtin.ts");
        return await runBuiltin(name, context, args);
      },
    };
  }),
];
