// What is in a release, as CycloneDX 1.6. Made of the notices, which are made of what is in the build.

/** The same for the same release: no random serial number, and the time is that of the commit. */
export function toSbom({ name, version, components, at }) {
  const purl = (part) => `pkg:npm/${part.name.replace(/^@/, "%40")}@${part.version}`;
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: at,
      component: { type: "application", "bom-ref": `${name}@${version}`, name, version, licenses: [{ license: { id: "MIT" } }] },
    },
    components: components.map((part) => ({
      type: "library",
      "bom-ref": purl(part),
      name: part.name,
      version: part.version,
      licenses: [{ license: { id: part.licence } }],
      purl: purl(part),
    })),
    dependencies: [
      { ref: `${name}@${version}`, dependsOn: components.map(purl) },
      ...components.map((part) => ({ ref: purl(part) })),
    ],
  };
}
