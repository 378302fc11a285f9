export function gross(n) {
  return n * 1.19;
}
