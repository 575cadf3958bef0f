import type { Texts } from '../texts/texts.ts';
import { renderLayout } from './layout.ts';
import { markup } from './markup.ts';

/** Where the way of a person leads after a form: to the app, with the decision, or to the next step. */
export type OnwardTarget = 'app' | 'step';

/**
 * The page behind a form whose way may end at an app: it navigates by itself, and by its link where a browser does not.
 * @param texts the words
 * @param url absolute and trusted, without a code or a token
 * @returns a complete HTML document that needs no script
 */
export function renderOnward(texts: Texts, url: string, target: OnwardTarget): string {
  const words = texts.onward[target];
  return renderLayout(
    texts,
    texts.layout.title(words.heading, texts.layout.product),
    markup`<h1>${words.heading}</h1>
<p>${words.message}</p>
<p><a class="button primary" href="${url}">${texts.onward.goOn}</a></p>`,
    markup`<meta http-equiv="refresh" content="0; url=${url}">
`,
  );
}
