#!/usr/bin/env node
// The compile cache has to be on before the program is loaded (Node 22 and newer; older ones have none).
require("node:module").enableCompileCache?.();
require("../dist/main.cjs");
