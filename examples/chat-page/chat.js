import { connect } from "./connection.js";

const [door, ask, talk, state] = ["door", "ask", "talk", "state"].map((id) => document.getElementById(id));
const calls = new Map(); // rows of calls at work, by their id
let answer; // the row that words are added to
let session;

door.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { url, token } = Object.fromEntries(new FormData(door));
  try {
    session = await connect({ url, token, hear, tell: (text) => (state.textContent = text) });
    door.hidden = true;
    ask.hidden = false;
    ask.elements.prompt.focus();
  } catch (error) {
    state.textContent = error.message;
  }
});

ask.addEventListener("submit", (event) => {
  event.preventDefault();
  const prompt = ask.elements.prompt.value;
  session.send({ type: "submit", prompt, key: crypto.randomUUID() });
  ask.reset();
});
document.getElementById("stop").addEventListener("click", () => session.send({ type: "abort" }));

/** What each message of the server does to the page. All text is set as text: none of it is markup. */
function hear(message) {
  switch (message.type) {
    case "user_message":
      row("user", message.displayInput ?? textOf(message.message));
      break;
    case "text_delta":
      answer ??= row("answer", "");
      answer.textContent += message.delta;
      break;
    case "message_end":
      if (textOf(message.message) !== "") (answer ?? row("answer", "")).textContent = textOf(message.message);
      answer = undefined;
      break;
    case "message_void":
      answer?.remove();
      answer = undefined;
      break;
    case "tool_start":
      calls.set(message.state.toolCallId, row("call", `${message.state.toolName} ${message.state.firstArg} …`));
      break;
    case "tool_end":
      end(message.state);
      break;
    case "permission_request":
      question(message);
      break;
    case "prompt_resolved":
      document.getElementById(`question-${message.requestId}`)?.remove();
      break;
    case "error":
    case "protocol_error":
      row("error", message.message);
      break;
    case "interrupted":
      row("note", "Stopped");
      break;
  }
}

function textOf({ content }) {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

function end({ toolCallId, toolName, firstArg, result }) {
  const shown = calls.get(toolCallId) ?? row("call", "");
  shown.textContent = `${toolName} ${firstArg}: ${result}`;
  calls.delete(toolCallId);
}

function question({ requestId, toolName, input, reason }) {
  const asked = row("question", `${toolName} ${JSON.stringify(input)}\n${reason}\n`);
  asked.id = `question-${requestId}`;
  for (const decision of ["allow", "deny"]) {
    const button = document.createElement("button");
    button.textContent = decision === "allow" ? "Allow" : "Deny";
    button.addEventListener("click", () => session.send({ type: "permission-response", requestId, decision }));
    asked.append(button, " ");
  }
}

function row(kind, text) {
  const made = document.createElement("li");
  made.className = kind;
  made.textContent = text;
  talk.append(made);
  return made;
}
