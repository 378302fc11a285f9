/** Is this absolute path the folder, or below it? Both are taken as they are written: links are followed before. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}
