/** Is this an operator of `test` and `[[ … ]]` that asks about the file behind it? */
export function asksAboutFile(operator: string): boolean {
  return /^-[abcdefghkprsuwxGLNOS]$/.test(operator);
}

/** Does it compare two files? */
export function comparesFiles(operator: string): boolean {
  return /^-(?:nt|ot|ef)$/.test(operator);
}
