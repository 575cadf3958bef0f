import { SealBroken, type SealedBox } from './sealed-box.ts';

/** Seals text as text. */
export interface TextSeal {
  /** @param context what the text is and whose; opening needs the same */
  seal(text: string, context: string): string;
  /** @returns undefined where it was not sealed here, was changed, or was sealed in another context */
  open(sealed: string, context: string): string | undefined;
}

/** Creates the sealing of text that goes through other hands, base64url, over a sealed box. */
export function createTextSeal(box: SealedBox): TextSeal {
  return {
    seal: (text, context) => box.seal(text, context).toString('base64url'),
    open(sealed, context) {
      try {
        return box.open(Buffer.from(sealed, 'base64url'), context);
      } catch (error) {
        if (error instanceof SealBroken) return undefined;
        throw error;
      }
    },
  };
}
