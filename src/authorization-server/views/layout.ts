import type { Texts } from '../texts/texts.ts';
import { displayText } from './display-text.ts';
import { type Markup, markup, trustedMarkup } from './markup.ts';
import { style } from './style.ts';

const gate = trustedMarkup(
  '<svg viewBox="0 0 24 24" fill="currentColor" aria-hidden="true" focusable="false"><path d="M2 3h4v2h3V3h6v2h3V3h4v18h-6v-5a4 4 0 0 0-8 0v5H2z"/></svg>',
);

/**
 * The frame all pages share: one column, one card, the stylesheet inlined, nothing loaded from anywhere (T-198).
 * @param texts the words, and the language of the page
 * @param title plain text for the window title; made inert here
 * @param content the card's content, with the page's only `h1`
 * @param head what else stands in the head
 * @returns a complete HTML document
 */
export function renderLayout(texts: Texts, title: string, content: Markup, head?: Markup): string {
  const page = markup`<!DOCTYPE html>
<html lang="${texts.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${head}<title>${displayText(title, 200)}</title>
<style>${trustedMarkup(style)}</style>
</head>
<body>
<header>${gate}<span>${texts.layout.product}</span></header>
<main>
${content}
</main>
</body>
</html>
`;
  return page.toString();
}

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
