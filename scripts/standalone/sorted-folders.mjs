// Part of the standalone command: Node sorts the names in a folder, Bun gives them in the order of the disk, which differs between machines.
// Lists, and what is named first, must not depend on it.

/** Makes the module sort what it lists, and returns it. Nothing of ours lists a folder with a callback: that stays as it is. */
export function sortFolders(module) {
  const { readdir, readdirSync } = module;
  if (readdirSync) module.readdirSync = (...words) => readdirSync(...words).sort(byName);
  // In `node:fs/promises`; the one in `node:fs` takes a callback.
  else module.readdir = async (...words) => (await readdir(...words)).sort(byName);
  return module;
}

function byName(a, b) {
  const [first, second] = [a.name ?? a, b.name ?? b];
  return first < second ? -1 : first > second ? 1 : 0;
}
