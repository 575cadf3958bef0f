import type { Texts } from '../../texts/texts.ts';
import { displayText, timeWords } from '../display-text.ts';
import { type Markup, markup } from '../markup.ts';
import { type AccountPageFrame, csrfField, renderAccountPage, renderQuestion } from './frame.ts';

/** An upstream with the texts that users see. */
export interface NamedUpstream {
  /** Its name in the settings, which stands in URLs. */
  name: string;
  /** Display name. */
  label: string;
}

/** An account elsewhere that is linked with the person's. */
export interface LinkedUpstream extends NamedUpstream {
  /** Name of the user at the upstream: an address, a name, or the subject. */
  person: string;
  /** Epoch seconds. */
  linkedAt: number;
  /** Time of the last successful check, epoch seconds; absent if nothing is stored to check. */
  checkedAt?: number;
  /** Since when it does not answer, epoch seconds. */
  unreachableSince?: number | undefined;
  /** Scopes of the stored tokens at the upstream. */
  scopes: readonly string[];
  hasTokens: boolean;
  /** `login` if users can log in with it; `gone` if the operator removed it from the settings. */
  use: 'login' | 'tools' | 'gone';
}

/** Content of the page of linked accounts. */
export interface UpstreamsPage extends AccountPageFrame {
  linked: readonly LinkedUpstream[];
  /** Those that could be linked as well. */
  others: readonly NamedUpstream[];
}

function scopeList(heading: string, scopes: readonly string[]): Markup | false {
  return (
    scopes.length > 0 &&
    markup`<p>${heading}</p>
<ul>${scopes.map((scope) => markup`<li><span class="detail">${displayText(scope, 300)}</span></li>`)}</ul>
`
  );
}

function renderLinked(texts: Texts, page: UpstreamsPage, linked: LinkedUpstream): Markup {
  const words = texts.account.upstreams;
  const label = displayText(linked.label, 60);
  const use = { login: words.forLogin, tools: words.notForLogin, gone: words.notOffered }[linked.use];
  const { unreachableSince } = linked;
  return markup`<li class="item"><h2><bdi>${label}</bdi></h2>
<p>${words.as(markup`<bdi class="name">${displayText(linked.person, 254)}</bdi>`)}</p>
<p class="muted">${words.linked(timeWords(texts, linked.linkedAt))}${linked.checkedAt !== undefined && markup`<br>${words.checked(timeWords(texts, linked.checkedAt))}`}${unreachableSince !== undefined && markup`<br>${words.unreachable(timeWords(texts, unreachableSince))}`}</p>
<p class="muted">${use}<br>${linked.hasTokens ? words.tokensKept : words.noTokens}</p>
${linked.hasTokens && scopeList(words.allowed, linked.scopes)}<a class="button" href="${page.url}/upstreams/${linked.name}/unlink">${words.unlink(label)}</a></li>
`;
}

/**
 * The page of accounts elsewhere: those that are linked, and those that could be.
 * @returns a complete HTML document that needs no script
 */
export function renderUpstreams(texts: Texts, page: UpstreamsPage): string {
  const words = texts.account.upstreams;
  return renderAccountPage(
    texts,
    page,
    words.heading,
    markup`<p>${words.explanation}</p>
${
  page.linked.length === 0
    ? markup`<p>${words.none}</p>`
    : markup`<ul class="items">
${page.linked.map((linked) => renderLinked(texts, page, linked))}</ul>`
}
${page.others.map(
  ({ name, label }) =>
    markup`<p><a class="button" href="${page.url}/upstreams/${name}/link">${words.link(displayText(label, 60))}</a></p>
`,
)}`,
  );
}

/**
 * The page that says what is asked for elsewhere before anybody goes there. Posts `csrf`.
 * @param page `scopes` are those that will be asked for
 * @returns a complete HTML document that needs no script
 */
export function renderUpstreamLink(
  texts: Texts,
  page: AccountPageFrame & { upstream: NamedUpstream; scopes: readonly string[] },
): string {
  const words = texts.account.upstreams;
  const { url, csrf, upstream } = page;
  const label = displayText(upstream.label, 60);
  return renderAccountPage(
    texts,
    page,
    words.linkHeading(label),
    markup`<p>${words.linkExplanation(label)}</p>
${scopeList(words.asked, page.scopes)}<p class="muted">${words.linkTokens}</p>
<form method="post" action="${url}/upstreams/${upstream.name}/link">
${csrfField(csrf)}
<button class="primary" type="submit">${words.goTo(label)}</button>
</form>`,
  );
}

/**
 * The page for somebody who opened what another account was asked to link. It has no form but that of the logout.
 * @returns a complete HTML document that needs no script
 */
export function renderLinkOfAnother(
  texts: Texts,
  page: AccountPageFrame & { upstream: NamedUpstream },
): string {
  const words = texts.account.upstreams;
  const { url, csrf } = page;
  return renderAccountPage(
    texts,
    page,
    words.linkHeading(displayText(page.upstream.label, 60)),
    markup`<p>${words.linkOfAnother}</p>
<form method="post" action="${url}/logout">
${csrfField(csrf)}
<button class="primary" type="submit">${texts.account.logOut}</button>
</form>`,
  );
}

/**
 * The page that asks whether an account elsewhere is to be unlinked. Posts `csrf`; without the form if it is the only
 * way to log in.
 * @returns a complete HTML document that needs no script
 */
export function renderUpstreamUnlink(
  texts: Texts,
  page: AccountPageFrame & { upstream: NamedUpstream; isOnlyWay: boolean },
): string {
  const words = texts.account.upstreams;
  const { url, upstream, isOnlyWay } = page;
  const label = displayText(upstream.label, 60);
  const answer = { action: `${url}/upstreams/${upstream.name}/unlink`, words: words.unlink(label) };
  return renderQuestion(texts, isOnlyWay ? { ...page, problem: words.onlyWay(label) } : page, {
    heading: words.unlinkHeading(label),
    explanation: words.unlinkExplanation(label),
    answer: isOnlyWay ? undefined : answer,
    keptAt: `${url}/upstreams`,
  });
}
