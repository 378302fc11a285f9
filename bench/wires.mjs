// The wires a run can be measured on: how the command is pointed at the scripted server, and what the floor must know to do the same.

/** `settings` is the command's settings.json; `textIn` finds the piece of the answer in one event of the stream. */
export const wires = {
  anthropic: {
    settings: {},
    variables: (url) => ({ ANTHROPIC_API_KEY: "bench-key", ANTHROPIC_BASE_URL: url }),
    path: () => "/v1/messages",
    textIn: (event) => (event.delta?.type === "text_delta" ? event.delta.text : undefined),
  },
  "openai-chat": {
    settings: profile({ type: "openai", model: "gpt-5.5", options: { apiSurface: "chat-completions" } }),
    variables: (url) => ({ OPENAI_API_KEY: "bench-key", OPENAI_BASE_URL: url }),
    path: () => "/v1/chat/completions",
    textIn: (event) => event.choices?.[0]?.delta?.content ?? undefined,
  },
  "openai-responses": {
    settings: profile({ type: "openai", model: "gpt-5.5", options: { apiSurface: "responses" } }),
    variables: (url) => ({ OPENAI_API_KEY: "bench-key", OPENAI_BASE_URL: url }),
    path: () => "/v1/responses",
    textIn: (event) => (event.type === "response.output_text.delta" ? event.delta : undefined),
  },
  gemini: {
    settings: profile({ type: "gemini", model: "gemini-3-flash" }),
    variables: (url) => ({ GEMINI_API_KEY: "bench-key", GOOGLE_GEMINI_BASE_URL: url }),
    path: () => "/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse",
    textIn: (event) => event.candidates?.[0]?.content?.parts?.[0]?.text,
  },
};

/** Rows that mean the same on every wire; the others need tool calls, which the floor makes on Anthropic's only. */
export const rowsOfEveryWire = ["first-request", "one-answer", "stream-cpu", "memory-answer", "memory-stream", "parallel"];

function profile(facts) {
  return { currentProvider: "bench", providers: { bench: facts } };
}
