import { SealBroken, type SealedBox } from './sealed-box.ts';

/** Seals text as text. */
export interface TextSeal {
  /** @param context what the text is and whose; opening needs the same */
  seal(text: string, context: string): string;
  /** @returns undefined where it was not sealed here, was changed, was sealed in another context, or is spelled otherwise */
  open(sealed: string, context: string): string | undefined;
}

/** Creates the sealing of text that goes through other hands, base64url, over a sealed box. */
export function createTextSeal(box: SealedBox): TextSeal {
  return {
    seal: (text, context) => box.seal(text, context).toString('base64url'),
    open(sealed, context) {
      const bytes = Buffer.from(sealed, 'base64url');
      // Node.js passes over what is no base64url, and over spare bits: the same bytes would go by many names.
      if (bytes.toString('base64url') !== sealed) return undefined;
      try {
        return box.open(bytes, context);
      } catch (error) {
        if (error instanceof SealBroken) return undefined;
        throw error;
      }
    },
  };
}
