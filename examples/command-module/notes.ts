// A command that another package brings: `/notes`, written against published names only.
// It has subcommands, asks two questions one after the other, and renames the session.

import type { CommandModule, CommandResult } from "@outrider/runtime";

export function createNotesModule(): CommandModule {
  const bySession = new Map<string, string[]>(); // one module may serve many sessions
  return {
    name: "notes",
    systemCommands: [
      {
        name: "notes",
        description: "Notes of this session: list them, add one, or name the session after one",
        argumentHint: "[add TEXT|new|name NUMBER]",
        modelInvocable: true,
        safety: "read",
        lifecycle: "inline",
        subcommands: [
          { name: "add", description: "Add a note" },
          { name: "new", description: "Be asked for a note" },
          { name: "name", description: "Name the session after a note" },
        ],
        execute(context, args) {
          const [action = "", ...words] = args.trim().split(/\s+/);
          const notes = notesOf(context.sessionId);
          if (action === "") return { success: true, message: notes.join("\n") || "No notes yet", data: { count: notes.length } };
          if (action === "add" && words.length > 0) return add(notes, words.join(" "));
          if (action === "name") return name(notes[Number(words[0]) - 1], words[0]);
          if (action === "new") return ask(notes);
          return { success: false, message: `notes does not know ${action} in ${context.cwd}` };
        },
      },
    ],
  };

  function notesOf(sessionId: string): string[] {
    const notes = bySession.get(sessionId) ?? [];
    bySession.set(sessionId, notes);
    return notes;
  }
}

function add(notes: string[], text: string): CommandResult {
  notes.push(text);
  return { success: true, message: `Note ${notes.length}: ${text}` };
}

function name(note: string | undefined, number: string | undefined): CommandResult {
  if (note === undefined) return { success: false, message: `There is no note ${number}` };
  return { success: true, message: `The session is called ${note}`, effects: [{ type: "session-renamed", name: note }] };
}

function ask(notes: string[]): CommandResult {
  return {
    success: true,
    message: "What kind of note?",
    interaction: {
      prompt: { type: "choice", message: "What kind of note?", choices: [{ value: "idea" }, { value: "todo" }] },
      submit: (kind) => ({
        success: true,
        message: "Which words?",
        interaction: {
          prompt: { type: "text", message: "Which words?", validation: { required: true } },
          submit: (text) => add(notes, `${kind}: ${text}`),
        },
      }),
      cancel: () => ({ success: false, message: "No note was made" }),
    },
  };
}
