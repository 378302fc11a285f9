/** The middle value, and how far the middle half of the values lies apart, relative to it. */
export function summarize(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const median = quantile(sorted, 0.5);
  return { median, spread: (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / median, values };
}

export function median(values) {
  return summarize(values).median;
}

/** What this share of the values is not above. */
export function quantileOf(values, share) {
  return quantile(
    [...values].sort((a, b) => a - b),
    share,
  );
}

function quantile(sorted, share) {
  const position = (sorted.length - 1) * share;
  const below = Math.floor(position);
  const above = Math.ceil(position);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - below);
}
