/** Longest note, in characters. */
export const maxTextLength = 10_000;

/** Most notes of an account. */
export const maxNotes = 1000;
