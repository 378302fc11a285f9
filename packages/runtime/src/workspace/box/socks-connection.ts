import type { Socket } from "node:net";
import { joinStreams, type ProxyTarget, Refusal } from "./proxy-target.ts";

const version = 5;
const withoutLogin = 0;
const connectCommand = 1;
const domainName = 3;
const maxNegotiationBytes = 600;
const negotiationTimeoutMs = 10_000;

/** SOCKS5 (RFC 1928): CONNECT to a name. Addresses are refused: what may be reached is a list of names. */
export async function acceptSocks(client: Socket, connect: (target: ProxyTarget) => Promise<Socket>): Promise<void> {
  client.setTimeout(negotiationTimeoutMs, () => client.destroy());
  const take = reader(client);
  const [, methods = 0] = await take(2);
  if (!(await take(methods)).includes(withoutLogin)) return void client.end(Uint8Array.of(version, 0xff));
  client.write(Uint8Array.of(version, withoutLogin));

  const [, command, , kind] = await take(4);
  if (command !== connectCommand) return void client.end(answer(7));
  if (kind !== domainName) return void client.end(answer(8));
  const [length = 0] = await take(1);
  const host = Buffer.from(await take(length)).toString("latin1");
  const [high = 0, low = 0] = await take(2);
  try {
    const upstream = await connect({ host, port: high * 256 + low });
    client.setTimeout(0);
    client.write(answer(0));
    joinStreams(client, upstream);
    client.resume();
  } catch (error) {
    client.end(answer(error instanceof Refusal ? 2 : 4));
  }
}

function answer(code: number): Uint8Array {
  return Uint8Array.of(version, code, 0, 1, 0, 0, 0, 0, 0, 0);
}

/** Exact numbers of bytes, whatever pieces they arrive in. */
function reader(client: Socket): (count: number) => Promise<Uint8Array> {
  let total = 0;
  return async (count) => {
    total += count;
    if (count === 0) return new Uint8Array();
    if (total > maxNegotiationBytes) throw new Refusal("The request is too long.");
    while (true) {
      const bytes: Buffer | null = client.read(count);
      if (bytes !== null) return bytes;
      await new Promise<void>((resolve, reject) => {
        const ended = (): void => reject(new Refusal("The request is not whole."));
        client.once("close", ended);
        client.once("readable", () => {
          client.off("close", ended);
          resolve();
        });
      });
    }
  };
}
