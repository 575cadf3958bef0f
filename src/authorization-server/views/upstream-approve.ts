import type { LearnedFacts } from '../learned-facts.ts';
import type { Texts } from '../texts/texts.ts';
import { type ClientSummary, clientName, quotedClientName } from './client-summary.ts';
import { renderFacts, renderIdentity, renderLearned } from './consent.ts';
import { displayText } from './display-text.ts';
import { type AccessTime, renderDurationChoice } from './duration-choice.ts';
import { renderLayout } from './layout.ts';
import { markup } from './markup.ts';
import { type AnswerTarget, describeAnswerTarget } from './redirect-target.ts';
import { type AskedScope, renderScopes } from './scope-list.ts';

/** Content of the page on which a user approves an app before the login at an upstream. */
export interface UpstreamApprovePage {
  action: string;
  /** For another way to log in; undefined if there is none. */
  otherAction: string | undefined;
  csrf: string;
  client: ClientSummary;
  resourceName: string;
  /** Resource indicator the token will be for (RFC 8707). */
  resource: string;
  /** Target of the response to this authorization request. */
  answer: AnswerTarget;
  scopes: readonly AskedScope[];
  /** Data about the user that the server learns. */
  learned: LearnedFacts;
  time: AccessTime;
  upstream: { name: string; label: string; scopes: readonly string[] };
}

/**
 * Renders the page before an upstream: the client and its request, the target of the response, and the scopes requested
 * at the upstream. No user is logged in yet. Posts `csrf`, `upstream`, the kept `scope` values, `duration` and
 * `decision` (`allow` or `deny`) to `action`, or `csrf` alone to `otherAction`. Deny is the first button, so that the
 * Enter key refuses.
 * @param texts the words
 * @param page its content; every text is escaped, client text is made inert (T-059, T-060)
 * @returns a complete HTML document that needs no script
 * @throws TypeError when a redirect URI could not have been registered
 * @see MCP security best practices, confused deputy (A11-01, A11-03, T-079)
 */
export function renderUpstreamApprove(texts: Texts, page: UpstreamApprovePage): string {
  const { title, heading, namesake, deny } = texts.consent;
  const words = texts.upstream.approve;
  const target = describeAnswerTarget(texts, page.answer);
  const resourceName = displayText(page.resourceName);
  const label = displayText(page.upstream.label);
  return renderLayout(
    texts,
    texts.layout.title(title(clientName(texts, page.client)), resourceName),
    markup`<h1>${heading(quotedClientName(texts, page.client), markup`<bdi>${resourceName}</bdi>`)}</h1>
<p>${words.next(markup`<strong>${label}</strong>`)}</p>
${
  page.client.standing === 'namesake' &&
  markup`<div class="notice caution">
<p>${namesake}</p>
</div>
`
}${renderIdentity(texts, page.client, target)}
<form method="post" action="${page.action}">
<input type="hidden" name="csrf" value="${page.csrf}">
<input type="hidden" name="upstream" value="${page.upstream.name}">
${renderScopes(texts, page.scopes, [], false)}
${renderLearned(texts, page)}${renderDurationChoice(texts, page.time)}
<dl>
<dt>${words.asked(label)}</dt>
<dd>${words.askedNothing}${
      page.upstream.scopes.length > 0 &&
      markup` <span class="detail">${displayText(page.upstream.scopes.join(' '), 500)}</span>`
    }</dd>
</dl>
<div class="decision">
<button type="submit" name="decision" value="deny">${deny}</button>
<button class="primary" type="submit" name="decision" value="allow">${words.submit(label)}</button>
</div>
</form>
${renderFacts(texts, page, target)}${
  page.otherAction !== undefined &&
  markup`
<form class="cancel" method="post" action="${page.otherAction}">
<input type="hidden" name="csrf" value="${page.csrf}">
<button type="submit">${words.otherWay}</button>
</form>`
}`,
  );
}
