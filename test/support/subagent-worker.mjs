// A process that does the work of one agent with the built library, and a model that plays it.
import { createInProcessSubagentRunner, createScriptedProvider, serveSubagentWorker } from "../../packages/runtime/dist/index.js";
import { play } from "./played-agent.mjs";

const provider = createScriptedProvider(new Array(50).fill(play));
serveSubagentWorker(createInProcessSubagentRunner({ parent: { cwd: process.cwd(), provider } }));
