/** Runs what it is given one after the other, in the order of the calls; a failure is its caller's alone. */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine.catch(() => {}); // the caller is told
    return mine;
  };
}
