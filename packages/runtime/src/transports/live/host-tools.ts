import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/content.ts";
import type { ToolDetails } from "../../protocol/events.ts";
import type { PermissionMode } from "../../protocol/permission.ts";
import { defineTool, type Tool, type ToolContext, ToolFailure, type ToolOutput } from "../../tools/tool.ts";
import { messageOf } from "../../util/message-of.ts";

/** The person behind the host, who is asked the way permission questions are. */
export type Person = {
  /** Claude's words for yes and no: `{ behavior, updatedInput?, updatedPermissions?, message?, interrupt? }`. */
  readonly ask: (question: { tool: string; input: JsonObject; callId: string }, signal: AbortSignal) => Promise<JsonObject>;
  readonly mode: () => Promise<PermissionMode>;
  readonly setMode: (mode: PermissionMode) => Promise<void>;
  /** What an answer changes for later calls. */
  readonly update: (response: JsonObject) => Promise<void>;
  readonly interrupt: () => void;
};

/** `previewFormat`: what previews beside the options of a question are written in. Tools that need somebody to talk to. They touch nothing, and ask by themselves: in every mode but the one in which nobody is asked. */
export function createHostTools(person: Person, previewFormat?: string): Tool[] {
  let before: PermissionMode = "default"; // what a plan gives way to
  return [
    tool(person, {
      name: "AskUserQuestion",
      description:
        "Asks the user one to four questions, each with two to four options to choose from; the user may also answer in other words. " +
        "Use it when the work cannot go on well without a choice that only the user can make.",
      inputSchema: questionSchema(previewFormat),
      onYes: async (response) => toAnswers(response),
      details: ({ questions = [] }, { updatedInput }) => {
        const annotations = recordIn(updatedInput, "annotations");
        const answers = recordIn(updatedInput, "answers");
        return { questions, answers, ...(Object.keys(annotations).length > 0 && { annotations }) };
      },
    }),
    tool(person, {
      name: "EnterPlanMode",
      description:
        "Asks the user to agree that you look around and plan before anything is changed. For work with several ways to do it.",
      inputSchema: { type: "object", properties: {}, additionalProperties: false },
      check: (mode) => (mode === "plan" ? "You are planning already." : undefined),
      onYes: async (_, mode) => {
        before = mode;
        await person.setMode("plan");
        return "The user agrees: look around, then show your plan with ExitPlanMode. Nothing may be changed until it is approved.";
      },
    }),
    tool(person, {
      name: "ExitPlanMode",
      description: "Shows the user your plan and asks to begin with it. Only in plan mode, once the plan is complete.",
      inputSchema: { type: "object", properties: { plan: { type: "string", description: "The whole plan, as Markdown." } } },
      check: (mode) => (mode === "plan" ? undefined : "You are not in plan mode, so there is nothing to leave."),
      onYes: async () => {
        if ((await person.mode()) === "plan") await person.setMode(before);
        return "The user has approved the plan. Begin with it.";
      },
      details: ({ plan }) => ({ isAgent: false, ...(typeof plan === "string" && { plan }) }),
    }),
  ];
}

type Talk = Pick<Tool, "name" | "description" | "inputSchema"> & {
  /** Why the question makes no sense now. */
  readonly check?: (mode: PermissionMode) => string | undefined;
  /** What the model reads after a yes. */
  readonly onYes: (response: JsonObject, mode: PermissionMode) => Promise<string>;
  /** What programs are told beside that. */
  readonly details?: (input: JsonObject, response: JsonObject) => ToolDetails;
};

function tool(person: Person, { check, onYes, details, ...facts }: Talk): Tool {
  return defineTool<JsonObject>({
    ...facts,
    concurrent: false,
    access: async () => ({ kind: "note", resources: [] }),
    async execute(input, { callId, signal }: ToolContext): Promise<ToolOutput> {
      const mode = await person.mode();
      const problem = mode === "dontAsk" ? "Nobody is asked in mode dontAsk: decide by yourself." : check?.(mode);
      if (problem !== undefined) throw new ToolFailure(problem);
      const response = await person.ask({ tool: facts.name, input, callId }, signal).catch((error: unknown) => {
        throw new ToolFailure(`The question was not answered: ${messageOf(error)}`);
      });
      if (response["behavior"] !== "allow") {
        if (response["interrupt"] === true) person.interrupt();
        const { message } = response;
        throw new ToolFailure(typeof message === "string" && message !== "" ? message : "The user said no.");
      }
      await person.update(response);
      const text = await onYes(response, mode);
      return { content: [{ type: "text", text }], ...(details && { details: details(input, response) }) };
    },
  });
}

/** Answers come by the words of their questions; several choices are a list or one text. */
function toAnswers({ updatedInput }: JsonObject): string {
  const { response } = isJsonObject(updatedInput) ? updatedInput : {};
  const annotations = recordIn(updatedInput, "annotations");
  const given = Object.entries(recordIn(updatedInput, "answers")).map(([question, answer]) =>
    [`${JSON.stringify(question)} = ${JSON.stringify(toWords(answer))}`, ...notesOf(annotations[question])].join(" "),
  );
  const own = typeof response === "string" && response.trim() !== "" ? [`In the user's own words: ${response}`] : [];
  if (given.length + own.length === 0) return "The user gave no answer. Decide by yourself, and say what you decided.";
  return `The user has answered. ${[given.join(", "), ...own].filter(Boolean).join(" ")}`;
}

/** What the user wrote beside a choice, and what the choice looked like. */
function notesOf(annotation: JsonValue | undefined): string[] {
  const { notes, preview } = isJsonObject(annotation) ? annotation : {};
  const isSaid = (text: JsonValue | undefined): text is string => typeof text === "string" && text.trim() !== "";
  return [...(isSaid(preview) ? [`(what was chosen: ${preview})`] : []), ...(isSaid(notes) ? [`(the user adds: ${notes})`] : [])];
}

function recordIn(updatedInput: JsonValue | undefined, name: "answers" | "annotations"): JsonObject {
  const { [name]: value } = isJsonObject(updatedInput) ? updatedInput : {};
  return isJsonObject(value) ? value : {};
}

function toWords(answer: JsonValue): string {
  return Array.isArray(answer) ? answer.map(String).join(", ") : String(answer);
}

const option = (previewFormat: string | undefined): JsonObject => ({
  type: "object",
  properties: {
    label: { type: "string", minLength: 1, description: "The choice in a few words." },
    description: { type: "string", description: "What it means, or what follows from it." },
    preview: {
      type: "string",
      description: `Something to look at beside it, such as code${previewFormat === undefined ? "" : `, as ${previewFormat}`}.`,
    },
  },
  required: ["label", "description"],
});

const questionSchema = (previewFormat: string | undefined): JsonObject => ({
  type: "object",
  properties: {
    questions: {
      type: "array",
      minItems: 1,
      maxItems: 4,
      items: {
        type: "object",
        properties: {
          question: { type: "string", minLength: 1, description: "The whole question, with a question mark." },
          header: { type: "string", description: "What it is about, in at most 12 characters." },
          options: { type: "array", minItems: 2, maxItems: 4, items: option(previewFormat) },
          multiSelect: { type: "boolean", description: "More than one may be chosen." },
        },
        required: ["question", "header", "options"],
      },
    },
  },
  required: ["questions"],
});
