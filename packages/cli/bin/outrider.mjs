#!/usr/bin/env node
// The compile cache has to be on before the program is loaded (Node 22 and newer; older ones have none).
import module from "node:module";

module.enableCompileCache?.();
await import("../dist/main.js");
