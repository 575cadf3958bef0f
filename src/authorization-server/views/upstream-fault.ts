import type { Texts } from '../texts/texts.ts';
import { displayText } from './display-text.ts';
import { renderLayout } from './layout.ts';
import { type Markup, markup, trustedMarkup } from './markup.ts';

/** Reason of a failed upstream login as the user sees it (T-085). */
export type UpstreamFaultName = 'unavailable' | 'refused' | 'notAdmitted';

/** Content of the page after a failed upstream login. */
export interface UpstreamFaultPage {
  fault: UpstreamFaultName;
  label: string;
  /** The ways on, the best first. */
  ways: readonly FaultWay[];
  requestId: string;
}

/** A way on: a form that posts `csrf` alone, or a link. */
export type FaultWay = { name: 'again' | 'otherWay' | 'backToApp' | 'backToAccount' } & (
  | { action: string; csrf: string }
  | { href: string }
);

function renderWay(texts: Texts, way: FaultWay, look: Markup | false): Markup {
  const words = texts.upstream.fault[way.name];
  if ('href' in way) return markup`<p><a class="button primary" href="${way.href}">${words}</a></p>`;
  return markup`<form class="cancel" method="post" action="${way.action}">
<input type="hidden" name="csrf" value="${way.csrf}">
<button${look} type="submit">${words}</button>
</form>`;
}

const primary = trustedMarkup(' class="primary"');

/**
 * The page after a login through an upstream that came to nothing: what happened, in words that tell nothing of the
 * upstream's answer, and the ways on.
 * @param texts the words
 * @param page its content; every text is escaped
 * @returns a complete HTML document that needs no script
 * @see threats T-084, T-085 (A10-03)
 */
export function renderUpstreamFault(texts: Texts, page: UpstreamFaultPage): string {
  const words = texts.upstream.fault;
  const label = displayText(page.label);
  return renderLayout(
    texts,
    texts.layout.title(words.heading(label), texts.layout.product),
    markup`<h1>${words.heading(label)}</h1>
<p>${words[page.fault](label)}</p>
${page.fault === 'notAdmitted' && markup`<p>${words.notAdmittedHint(label)}</p>\n`}${page.ways.map((way, index) => markup`${renderWay(texts, way, index === 0 && primary)}\n`)}<dl>
<dt>${texts.error.requestId}</dt>
<dd><span class="detail">${displayText(page.requestId)}</span></dd>
</dl>`,
  );
}
