const heading = "## Unreleased\n";

/** The changelog with its unreleased part under a version, and that part alone. Throws when there is nothing to release. */
export function cutChangelog(text, { version, date }) {
  const start = text.indexOf(heading);
  if (start === -1) throw new Error('CHANGELOG.md has no "## Unreleased"');
  if (text.includes(`\n## ${version} `) || text.includes(`\n## ${version}\n`))
    throw new Error(`CHANGELOG.md has ${version} already`);
  const after = start + heading.length;
  const next = text.indexOf("\n## ", after);
  const section = text.slice(after, next === -1 ? undefined : next).trim();
  if (section === "") throw new Error("Nothing is unreleased");
  const rest = next === -1 ? "" : text.slice(next);
  return { section, changelog: `${text.slice(0, after)}\n## ${version} (${date})\n\n${section}\n${rest}` };
}

/** What the changelog says of a version that is released. */
export function sectionOf(text, version) {
  const start = text.indexOf(`\n## ${version} (`);
  if (start === -1) throw new Error(`CHANGELOG.md has no ${version}`);
  const after = text.indexOf("\n", start + 1);
  const next = text.indexOf("\n## ", after);
  return text.slice(after, next === -1 ? undefined : next).trim();
}
