// The engine's own floor: a workflow of empty steps, served by its SDK and nothing else. One process of a cluster that shares a port.
import { createServer } from "node:http2";

Promise.withResolvers ??= function withResolvers() {
  let resolve;
  let reject;
  const promise = new Promise((fulfil, fail) => {
    resolve = fulfil;
    reject = fail;
  });
  return { promise, resolve, reject };
};
const restate = await import("@restatedev/restate-sdk");
const floor = restate.workflow({
  name: "floor",
  handlers: {
    run: async (context, { steps }) => {
      for (let step = 0; step < steps; step++) await context.run(`step-${step}`, async () => step);
      return steps;
    },
  },
  options: { journalRetention: 24 * 60 * 60 * 1000 },
});
const server = createServer(restate.createEndpointHandler({ services: [floor], logger: () => {} }));
server.on("connection", (socket) => socket.setNoDelay(true));
server.listen(Number(process.env.FLOOR_PORT), "127.0.0.1", () => process.send?.("ready"));
process.on("disconnect", () => process.exit());
