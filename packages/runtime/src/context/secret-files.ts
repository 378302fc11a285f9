/** Is this a file that people keep passwords, tokens or keys in? By its name and its folder: nobody reads it to find out. */
export function keepsSecrets(path: string): boolean {
  const parts = path.toLowerCase().split(/[/\\]/);
  const folders = parts.slice(0, -1);
  const name = parts.slice(-1).join("");
  return secretNames.test(name) || folders.some((folder) => secretFolders.has(folder)) || isOfProgram(folders.at(-1), name);
}

const secretNames =
  /^\.env(?:\..*|rc)?$|\.env$|^[._]netrc$|^\.(?:npmrc|yarnrc|pypirc|pgpass|git-credentials|htpasswd|vault-token|vault_pass)$|^id_[a-z0-9_]+$|\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg)$|^(?!.*\.(?:md|mdx|markdown|rst)$)(?:client[-_.])?(?:secrets?|credentials?)(?:[-_.].*)?$|^service[-_]?account.*\.json$/;
const secretFolders = new Set([".git", ".ssh", ".gnupg", ".password-store"]);

/** `config` and the like, which are secret only beside the program they are for. */
function isOfProgram(folder: string | undefined, name: string): boolean {
  if (folder === ".aws") return true;
  return (folder === ".kube" && name === "config") || (folder === ".docker" && name === "config.json");
}
