import { EngineFailed } from "./restate-api.ts";

export type RestateSdk = typeof import("@restatedev/restate-sdk");

/** The package is installed by who uses the engine. It wants a function that Node 20 does not have. */
export async function loadSdk(): Promise<RestateSdk> {
  const missing = Promise as { withResolvers?: () => unknown }; // absent before Node 22
  missing.withResolvers ??= function withResolvers<T>(): unknown {
    let resolve: (value: T) => void = () => {};
    let reject: (reason: unknown) => void = () => {};
    const promise = new Promise<T>((fulfil, fail) => {
      resolve = fulfil;
      reject = fail;
    });
    return { promise, resolve, reject };
  };
  try {
    return await import("@restatedev/restate-sdk");
  } catch (error) {
    const packages = "@restatedev/restate-sdk@1.17.2";
    throw new EngineFailed(
      import.meta.url === "standalone:"
        ? `The standalone command is no worker of an engine; on Node it is: npm install -g outrider @outrider/fleet ${packages}`
        : `The engine Restate needs its package: npm install ${packages}`,
      { cause: error },
    );
  }
}
