import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "./door.js";

test("greets the customer", () => assert.equal(open("Ada"), "Hello, Ada!"));
