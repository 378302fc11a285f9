/** A picture as red, green, blue and opacity of each pixel, a byte each. */
export type Pixels = { readonly width: number; readonly height: number; readonly data: Uint8Array };

/** Longer ones would take seconds and hundreds of megabytes. */
export const maxPixels: number = 32 * 1024 * 1024;
