import { RuntimeError } from "@outrider/runtime";
import { outriderHome } from "@outrider/runtime/host";
import { findServer, serverFolder, TokenStore } from "@outrider/runtime/server";

/** The server that is meant, and a token for it: that of the environment, else that of the server which runs here. */
export function connect(url: string | undefined): { readonly url: string; readonly token: string } {
  const folder = serverFolder(outriderHome(process.env));
  const running = findServer(folder);
  const place = url ?? running?.url;
  if (place === undefined) throw new RuntimeError("not-found", "No server runs here", { hint: "outrider serve starts one" });
  if (!/^https?:/.test(place))
    throw new RuntimeError("usage", `The server listens on the socket ${place}, which this command cannot speak to yet`);
  const given = process.env["OUTRIDER_SERVER_TOKEN"];
  if (given) return { url: place, token: given };
  // The token of this user is told to the server of this user, and to no other.
  if (place !== running?.url)
    throw new RuntimeError("usage", `${place} is not the server that runs here: its token is not known`, {
      hint: "Set OUTRIDER_SERVER_TOKEN",
    });
  return { url: place, token: new TokenStore(folder).openOwner().token };
}
