import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Api, ApiError } from "./api.ts";
import { App } from "./app.tsx";
import type { Me } from "./live-types.ts";
import { Login } from "./login.tsx";

type Stage =
  | { readonly type: "asking" }
  | { readonly type: "out"; readonly note?: string }
  | { readonly type: "in"; readonly me: Me };

/** Who looks at the page: somebody with a link, somebody who was here before, or somebody with a token. */
export function Start({ api }: { api: Api }): JSX.Element {
  const [stage, setStage] = useState<Stage>({ type: "asking" });
  const enter = async (): Promise<void> => {
    try {
      setStage({ type: "in", me: await api.get<Me>("/v1/client") });
    } catch (error) {
      if (error instanceof ApiError && error.status === 0) {
        setTimeout(() => void enter(), 1000); // the server comes back
        return;
      }
      setStage({ type: "out" });
    }
  };
  useEffect(() => {
    api.onSignedOut = () => setStage({ type: "out" });
    void begin(api).then(
      () => (api.isSignedIn ? enter() : setStage({ type: "out" })),
      () => setStage({ type: "out", note: "The link that led here is not valid any more." }),
    );
  }, []);
  if (stage.type === "in") return <App key={stage.me.name} api={api} me={stage.me} onSignOut={() => void api.signOut()} />;
  if (stage.type === "out") return <Login api={api} note={stage.note} onSignedIn={() => void enter()} />;
  return (
    <p class="sr" role="status">
      Loading
    </p>
  );
}

/** A link holds its token behind the `#`, which no server sees and no log keeps; it is taken out of the address at once. */
async function begin(api: Api): Promise<void> {
  const given = new URLSearchParams(location.hash.slice(1));
  const [share, token, session] = [given.get("share"), given.get("token"), given.get("session")];
  const found = share ?? token;
  if (found === null) return;
  history.replaceState(null, "", session === null ? "/" : `/#/${encodeURIComponent(session)}`);
  await api.signIn(found, { isShared: share !== null });
}
