import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { DCLinter } from "dclint";
import { validate as validateDockerfile } from "dockerfile-utils";
import { parse, parseAllDocuments } from "yaml";

const folder = join(process.env.OUTRIDER_ROOT ?? "", "integrations/fleet");
const require = createRequire(join(process.env.OUTRIDER_ROOT ?? "", "test/fleet/x.js"));

type Manifest = { apiVersion: string; kind: string; metadata: { name: string }; spec: Record<string, unknown> };

/** Throws what the schema of Kubernetes has against it. */
function checkManifest(manifest: Manifest): void {
  const { apiVersion, kind } = manifest;
  const models = require(`kubernetes-models/${apiVersion}`);
  assert.ok(models[kind], `There is no ${kind} in ${apiVersion}`);
  new models[kind](manifest).validate();
}

function manifestsOf(file: string): Manifest[] {
  const documents = parseAllDocuments(readFileSync(join(folder, "kubernetes", file), "utf8"), { strict: true });
  for (const { errors } of documents) assert.deepEqual(errors, []);
  return documents.map((document) => document.toJS());
}

const manifests = readdirSync(join(folder, "kubernetes")).flatMap(manifestsOf);
const find = (kind: string, name: string): Manifest => {
  const found = manifests.find((one) => one.kind === kind && one.metadata.name === name);
  assert.ok(found, `${kind} ${name}`);
  return found;
};

describe("the manifests of a fleet", () => {
  for (const manifest of manifests)
    it(`fit the schema of Kubernetes: ${manifest.kind} ${manifest.metadata.name}`, () => checkManifest(manifest));

  it("would be refused with a field that does not exist or has the wrong type", () => {
    const wrong = structuredClone(find("Deployment", "outrider-workers-v1"));
    wrong.spec["replicas"] = "three";
    assert.throws(() => checkManifest(wrong), /replicas/);
    const { selector: _, ...spec } = find("Deployment", "outrider-workers-v1").spec;
    assert.throws(() => checkManifest({ ...wrong, spec }), /selector/);
  });

  it("name each other and the worker's ports and paths rightly", () => {
    const [pod] = [Object(find("Deployment", "outrider-workers-v1").spec)["template"]];
    const [worker] = pod.spec.containers;
    const ports = new Map(
      worker.ports.map(({ name, containerPort }: { name: string; containerPort: number }) => [name, containerPort]),
    );
    assert.deepEqual(Object.fromEntries(ports), { engine: 9080, side: 9081 });
    for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"])
      assert.ok(ports.has(worker[probe].httpGet.port), probe);
    const drain = Number(/--drain=(\d+)s/.exec(worker.args.join(" "))?.[1]);
    assert.ok(pod.spec.terminationGracePeriodSeconds > drain + 10, "the end waits for the drain");
    for (const kind of ["Service", "Deployment", "HorizontalPodAutoscaler", "PodDisruptionBudget"])
      find(kind, "outrider-workers-v1");
    const hpa = Object(find("HorizontalPodAutoscaler", "outrider-workers-v1").spec);
    assert.equal(hpa.scaleTargetRef.name, "outrider-workers-v1");
    assert.equal(hpa.metrics[0].external.metric.name, "outrider_fleet_runs_waiting");
  });
});

describe("the images of a fleet", () => {
  it("have a compose file that fits the specification", () => {
    const content = readFileSync(join(folder, "compose.yaml"), "utf8");
    assert.deepEqual(problemsOf(content), []);
    assert.notDeepEqual(problemsOf(content.replace("interval: 2s", "intervals: 2s")), []);
    assert.deepEqual(Object.keys(parse(content).services), ["engine", "store", "worker"]);
  });

  it("have a Dockerfile without anything wrong", () => {
    const content = readFileSync(join(folder, "Dockerfile"), "utf8");
    assert.deepEqual(validateDockerfile(content), []);
    assert.notDeepEqual(validateDockerfile(content.replace("EXPOSE 9080", "EXPOSES 9080")), []);
  });
});

/** What the schema of the specification has against a compose file. */
function problemsOf(content: string): unknown[] {
  const file = join(mkdtempSync(join(tmpdir(), "outrider-compose-")), "compose.yaml");
  writeFileSync(file, content);
  const { messages } = (DCLinter as unknown as { validateFile(path: string): { messages: unknown[] } }).validateFile(file); // not in its types
  rmSync(dirname(file), { recursive: true });
  return messages;
}
