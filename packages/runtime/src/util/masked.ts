declare const masked: unique symbol;

/**
 * A value in which secrets were hidden: only a redactor makes one. It may be stored, shown, and sent to a provider, and those who do
 * so take nothing else. It is never run, written into a file or given as an answer: what does that takes no such value.
 */
export type Masked<T> = T & { readonly [masked]: true };

/** Anything but a masked value. */
export type NotMasked<T> = T & { readonly [masked]?: never };
