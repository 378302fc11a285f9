import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Icon, Mark } from "../page/icons.tsx";
import type { Api } from "./api.ts";

/** The token is asked for once; what the browser keeps is something else, which only this page can use. */
export function Login({ api, onSignedIn, note }: { api: Api; onSignedIn: () => void; note?: string | undefined }): JSX.Element {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState(note);
  const [isBusy, setBusy] = useState(false);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (isBusy || token.trim() === "") return;
    setBusy(true);
    api
      .signIn(token.trim())
      .then(onSignedIn)
      .catch((error: { status?: number; message: string }) =>
        setProblem(error.status === 401 ? "This is not a token of this server, or it has expired." : error.message),
      )
      .finally(() => setBusy(false));
  };
  return (
    <main class="login">
      <form onSubmit={submit} aria-labelledby="login-t">
        <p class="brand">
          <Mark />
          Outrider
        </p>
        <h1 id="login-t">Sign in with a token</h1>
        <p class="dim">
          Yours is in <code>~/.outrider/server/token</code> on the machine of the server. <code>outrider serve token add</code>{" "}
          makes one for somebody else.
        </p>
        <label class="lab-over" for="token">
          Token
        </label>
        <label class="field">
          <input
            id="token"
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            aria-invalid={problem !== undefined}
            aria-describedby="login-p"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <p id="login-p" class="problem" role="alert">
          {problem && (
            <>
              <Icon name="error" class="c-error" />
              <span>{problem}</span>
            </>
          )}
        </p>
        <button type="submit" class="btn btn-primary" disabled={isBusy}>
          {isBusy ? "Signing in" : "Sign in"}
        </button>
        <p class="dimmer">The browser keeps a cookie for seven days that no script can read, and not the token.</p>
      </form>
    </main>
  );
}
