import type { Texts } from '../texts/texts.ts';
import { renderLayout } from './layout.ts';
import { markup } from './markup.ts';

/** Content of a page without a form. */
export interface Note {
  heading: string;
  message: string;
}

/**
 * A page that says how something ended; there is nothing to do on it.
 * @param texts the words of the frame
 * @param note its content, out of a catalogue
 * @returns a complete HTML document that needs no script
 */
export function renderNote(texts: Texts, { heading, message }: Note): string {
  return renderLayout(
    texts,
    texts.layout.title(heading, texts.layout.product),
    markup`<h1>${heading}</h1>
<p>${message}</p>`,
  );
}
