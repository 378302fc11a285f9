// node one-shot.ts "/notes add milk"
import { createHeadlessRunner } from "@outrider/runtime";
import { openHost } from "./host.ts";

const host = openHost();
const { session } = await host.create({ persistent: false });
process.exitCode = await createHeadlessRunner({ session }).run(process.argv[2] ?? "/notes");
await host.shutdown();
