/** For tests of backends: the cases that each of them must pass. */
export { type DurableCase, durableConformance, type DurableHarness } from "../durable/conformance.ts";
export { type StoreCase, storeConformance } from "../stores/store-conformance.ts";
