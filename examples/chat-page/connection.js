// One session over the WebSocket of `outrider serve`. What is said after a break begins where the last stored event ended.

/** Begins a session and connects to it; `hear` gets every message of the server, `tell` how the connection is. */
export async function connect({ url, token, hear, tell }) {
  const answer = await fetch(`${url}/v1/sessions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
  });
  if (!answer.ok) throw new Error((await answer.json()).detail ?? `The server answered ${answer.status}`);
  const { id: sessionId } = await answer.json();
  let after = 0;
  let tries = 0;
  let socket = open();

  return { send: (message) => socket.send(JSON.stringify({ ...message, sessionId })) };

  function open() {
    const opened = new WebSocket(`${url.replace(/^http/, "ws")}/v1/ws`, ["outrider.v1", `outrider.token.${token}`]);
    opened.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === "hello") opened.send(JSON.stringify({ type: "subscribe", sessionId, after }));
      if (message.type === "subscribed") {
        tries = 0;
        tell("connected");
        return; // its seq is where the session is, not what was told
      }
      if (typeof message.seq === "number") after = Math.max(after, message.seq);
      hear(message);
    };
    opened.onclose = () => {
      tell("disconnected, trying again");
      setTimeout(() => (socket = open()), Math.min(10_000, 250 * 2 ** tries++));
    };
    return opened;
  }
}
