import type { LearnedFacts } from '../learned-facts.ts';
import type { Texts } from '../texts/texts.ts';
import { type ClientSummary, clientName, httpsHost, quotedClientName } from './client-summary.ts';
import { displayText } from './display-text.ts';
import { type AccessTime, renderDurationChoice } from './duration-choice.ts';
import { renderLayout } from './layout.ts';
import { type Markup, markup } from './markup.ts';
import { type AnswerTarget, type DescribedTarget, describeAnswerTarget } from './redirect-target.ts';
import { type AskedScope, renderScopes } from './scope-list.ts';

/** Content of the consent page and target of its form. */
export interface ConsentPage {
  action: string;
  csrf: string;
  client: ClientSummary;
  /** Name of the logged-in account, usually its e-mail address. */
  account: string;
  /** The upstream through which they logged in, as people call it. */
  through?: string;
  /** The upstream that is asked after this page, as people call it. */
  next?: string;
  /** Scopes requested at the upstream (A11-03). */
  nextScopes?: readonly string[];
  resourceName: string;
  /** Resource indicator the token will be for (RFC 8707). */
  resource: string;
  /** Target of the response to this authorization request. */
  answer: AnswerTarget;
  scopes: readonly AskedScope[];
  /** Tools that need no scope, so that any app that is allowed can use them. */
  freeTools: readonly string[];
  /** Data about the user that the server learns. */
  learned: LearnedFacts;
  /** True if the server has not listed its tools yet. */
  awaitsTools?: boolean;
  /** True if an app with this identifier has access by an earlier consent. */
  hasEarlier: boolean;
  time: AccessTime;
  switchAccountAction?: string;
}

function renderAccount(texts: Texts, page: ConsentPage): Markup {
  const account = markup`<bdi class="name">${displayText(page.account, 254)}</bdi>`;
  return markup`<div class="account">
<p>${texts.consent.loggedInAs(account)}${page.through !== undefined && markup` ${texts.upstream.loggedInThrough(displayText(page.through))}`}</p>${
    page.switchAccountAction !== undefined &&
    markup`
<form method="post" action="${page.switchAccountAction}">
<input type="hidden" name="csrf" value="${page.csrf}">
<button class="link" type="submit">${texts.consent.switchAccount}</button>
</form>`
  }
</div>`;
}

function targetWords(texts: Texts, { kind, name }: DescribedTarget): Markup {
  return markup`<strong>${texts.consent.target[kind](name)}</strong>`;
}

/**
 * Describes how far the client's identity is verified. A document at a site proves that the site vouches for what it
 * says, redirect hosts included; behind a loopback address or a scheme any app on the device may use somebody else's
 * document (T-077), and behind the code of a device anybody (RFC 8628 section 5.4).
 * @param texts the words
 * @param target target of the response
 */
export function renderIdentity(texts: Texts, client: ClientSummary, target: DescribedTarget): Markup {
  const words = texts.consent;
  const publisher = httpsHost(client.clientId);
  const name = quotedClientName(texts, client);
  const goesTo = targetWords(texts, target);
  const place = target.kind !== 'device' && markup`<p><span class="detail">${target.detail}</span></p>\n`;
  if (publisher !== undefined && target.kind === 'host')
    return markup`<div class="notice">
<p>${words.describedBy(publisher, name, goesTo)}</p>
${place}</div>`;
  if (client.standing === 'operator' && target.kind === 'host')
    return markup`<div class="notice">
<p>${words.ofOperator(name, goesTo)}</p>
${place}</div>`;
  const claimDocument = target.kind === 'device' ? words.notCheckedDevice : words.notCheckedDocument;
  const claim =
    publisher === undefined
      ? client.standing === 'operator'
        ? words.notCheckedOperator(name, goesTo)
        : words.notChecked(name, goesTo)
      : claimDocument(name, markup`<strong>${publisher}</strong>`, goesTo);
  return markup`<div class="notice caution">
<p>${claim}</p>
${place}${target.kind !== 'host' && markup`<p>${words.caution[target.kind]}</p>`}</div>`;
}

/** Renders the data about the user that the server learns, and the data of calls that the operator keeps. */
export function renderLearned(
  texts: Texts,
  { learned: { facts, label, kept }, resourceName }: Pick<ConsentPage, 'learned' | 'resourceName'>,
): Markup {
  const { learned, learns, keeps } = texts.consent;
  const server = markup`<bdi>${displayText(resourceName)}</bdi>`;
  const list = facts.map((fact) => learned[fact](displayText(label)));
  return markup`${
    facts.length > 0 &&
    markup`<p class="muted">${learns(server, list)}</p>
`
  }${
    kept &&
    markup`<p class="muted">${keeps[kept](server)}</p>
`
  }`;
}

/** Renders the facts about a request beside its scopes and its target: its purpose and its client. */
export function renderFacts(
  texts: Texts,
  page: Pick<ConsentPage, 'client' | 'resourceName' | 'resource'>,
  target: DescribedTarget,
): Markup {
  const words = texts.consent.facts;
  const publisher = httpsHost(page.client.clientId);
  const website = httpsHost(page.client.uri);
  return markup`<dl>
${
  target.kind === 'device' &&
  markup`<dt>${texts.device.whereAndWhen}</dt>
<dd>${target.detail}</dd>
`
}<dt>${words.resource}</dt>
<dd><bdi>${displayText(page.resourceName)}</bdi> <span class="detail">${displayText(page.resource, 300)}</span></dd>
<dt>${publisher === undefined ? words.identifier : words.publisher}</dt>
<dd>${publisher} <span class="detail">${displayText(page.client.clientId, 300)}</span></dd>${
    website !== undefined &&
    markup`
<dt>${words.website}</dt>
<dd>${website}</dd>`
  }
</dl>`;
}

/**
 * Renders the consent page: the client, how far its identity is verified, the target of the code, each scope in words
 * with its tools, the new permissions, and the duration. Posts `csrf`, the kept `scope` values, `duration`,
 * `end_earlier` if it is ticked, and `decision` (`allow` or `deny`) to `action`. Deny is the first button, so that the
 * Enter key refuses.
 * @param texts the words
 * @param page its content; every text is escaped, client text is made inert (T-059, T-060)
 * @returns a complete HTML document that needs no script
 * @throws TypeError when a redirect URI could not have been registered
 * @see MCP security best practices, consent UI (A5-09, A11-03, T-077)
 */
export function renderConsent(texts: Texts, page: ConsentPage): string {
  const words = texts.consent;
  const target = describeAnswerTarget(texts, page.answer);
  const resourceName = displayText(page.resourceName);
  return renderLayout(
    texts,
    texts.layout.title(words.title(clientName(texts, page.client)), resourceName),
    markup`<h1>${words.heading(quotedClientName(texts, page.client), markup`<bdi>${resourceName}</bdi>`)}</h1>
${renderAccount(texts, page)}
${
  page.client.standing === 'namesake' &&
  markup`<div class="notice caution">
<p>${words.namesake}</p>
</div>
`
}${renderIdentity(texts, page.client, target)}
<form method="post" action="${page.action}">
<input type="hidden" name="csrf" value="${page.csrf}">
${renderScopes(texts, page.scopes, page.freeTools, page.hasEarlier)}${page.awaitsTools === true && markup`<p class="muted">${words.toolsNotYet}</p>\n`}
${renderLearned(texts, page)}${renderDurationChoice(texts, page.time)}
${page.next !== undefined && markup`<p class="muted">${texts.upstream.goesThere(displayText(page.next))}</p>\n`}${
  page.next !== undefined &&
  page.nextScopes !== undefined &&
  page.nextScopes.length > 0 &&
  markup`<dl>
<dt>${texts.upstream.approve.asked(displayText(page.next))}</dt>
<dd><span class="detail">${displayText(page.nextScopes.join(' '), 500)}</span></dd>
</dl>
`
}<div class="decision">
<button type="submit" name="decision" value="deny">${words.deny}</button>
<button class="primary" type="submit" name="decision" value="allow">${words.allow}</button>
</div>
</form>
${renderFacts(texts, page, target)}`,
  );
}
