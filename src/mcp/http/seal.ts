/** Seals text that leaves our hands, so that only we can read it, unchanged and in the same context. */
export interface Seal {
  seal(text: string, context: string): string;
  /** @returns undefined if it was not sealed here, was changed, or was sealed in another context */
  open(sealed: string, context: string): string | undefined;
}
