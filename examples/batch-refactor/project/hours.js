export function isOpen(hour) {
  if (hour >= 9 && hour < 18) return true;
  return false;
}
