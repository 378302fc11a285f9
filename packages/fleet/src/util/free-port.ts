import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** One that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Whether nobody listens on it at this moment. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening"); // rejects with the error
    server.close();
    await once(server, "close");
    return true;
  } catch {
    return false;
  }
}
