import assert from "node:assert/strict";
import { test } from "node:test";
import { isOpen } from "./hours.js";
import { gross } from "./price.js";

test("prices have tax", () => assert.equal(gross(100), 119));
test("the shop closes at six", () => assert.deepEqual([isOpen(9), isOpen(17), isOpen(18)], [true, true, false]));
