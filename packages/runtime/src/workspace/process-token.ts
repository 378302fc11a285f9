/** In programs, the number of an open file that all they start inherit; beyond what scripts use for themselves. */
export const tokenDescriptor = 20;
