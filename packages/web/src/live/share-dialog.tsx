import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { CopyButton } from "../page/output.tsx";
import type { Api } from "./api.ts";
import { Dialog } from "./dialog.tsx";

/** A link with which somebody else may look, and only look. */
export function ShareDialog({ api, sessionId, onClose }: { api: Api; sessionId: string; onClose: () => void }): JSX.Element {
  const [link, setLink] = useState("");
  const [hours, setHours] = useState(24);
  const [problem, setProblem] = useState("");
  const make = (): void =>
    void api.send<{ token: string }>("POST", `/v1/sessions/${sessionId}/share`, { expiresInSeconds: hours * 3600 }).then(
      ({ token }) => setLink(`${location.origin}/#share=${token}&session=${sessionId}`),
      (error: Error) => setProblem(error.message),
    );
  return (
    <Dialog title="Share this session" onClose={onClose}>
      <p>Whoever has the link sees this session and what happens in it. Nobody can answer, prompt or stop with it.</p>
      {link === "" ? (
        <div class="perm-b">
          <label>
            For{" "}
            <select class="select bordered" value={hours} onChange={(event) => setHours(Number(event.currentTarget.value))}>
              <option value={1}>an hour</option>
              <option value={24}>a day</option>
              <option value={168}>a week</option>
            </select>
          </label>
          <button type="button" class="btn btn-primary" onClick={make}>
            Make a link
          </button>
          <span role="alert">{problem}</span>
        </div>
      ) : (
        <>
          <pre class="perm-c" tabIndex={0} role="group" aria-label="Link">
            {link}
          </pre>
          <p class="dimmer">It is shown this once. The server must be reachable for whoever opens it.</p>
          <CopyButton text={() => link} label="Copy the link" />
        </>
      )}
    </Dialog>
  );
}
