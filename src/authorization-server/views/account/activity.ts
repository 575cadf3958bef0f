import type { CallOutcome } from '../../../storage/calls.ts';
import type { Texts } from '../../texts/texts.ts';
import { type ClientSummary, clientName } from '../client-summary.ts';
import { displayText, timeWords } from '../display-text.ts';
import { type Markup, markup } from '../markup.ts';
import { csrfField, renderAccountPage } from './frame.ts';

/** Calls of one tool, prompt or resource. */
export interface UsedTarget {
  /** Name of the tool, or the method if there is none. */
  name: string;
  /** Place of the server, such as `/github`. */
  route: string;
  calls: number;
  failed: number;
  refused: number;
  /** Epoch seconds. */
  lastAt: number;
}

/** One call of the app. */
export interface ShownCall {
  /** Epoch seconds. */
  at: number;
  name: string;
  route: string;
  outcome: CallOutcome;
  /** Reason of a refusal or error, such as `insufficient_scope`. */
  reason?: string;
}

/** Content of the page. */
export interface AppActivity {
  /** URL of the account pages, without a slash at its end. */
  url: string;
  csrf: string;
  /** Names the grant in the form that ends it. */
  id: string;
  client: ClientSummary;
  /** Number of days that the page covers. */
  days: number;
  /** True if the calls could not be read. */
  isUnavailable: boolean;
  targets: readonly UsedTarget[];
  /** True if there are more targets. */
  hasMoreTargets: boolean;
  /** Number of calls that were counted, if there are more. */
  countedNewest: number | undefined;
  /** Accounts elsewhere and keys that servers got for these calls. */
  credentials: readonly { name: string; calls: number }[];
  calls: readonly ShownCall[];
  /** Address of the page with older calls, if there are any. */
  older: string | undefined;
}

/**
 * The page of what an app did as the person: its calls by tool, the accounts elsewhere that it used, and each call.
 * @returns a complete HTML document that needs no script
 */
export function renderActivity(texts: Texts, page: AppActivity): string {
  const words = texts.account.activity;
  const name = clientName(texts, page.client);
  const content = page.isUnavailable
    ? markup`<div class="notice problem" role="alert"><p>${words.unavailable}</p></div>`
    : page.calls.length === 0
      ? markup`<p>${words.none(page.days)}</p>`
      : renderCalls(texts, page);
  return renderAccountPage(
    texts,
    page,
    words.heading(name),
    markup`<p class="muted"><span class="detail">${displayText(page.client.clientId, 300)}</span></p>
${content}
<form method="post" action="${page.url}/apps">
${csrfField(page.csrf)}
<input type="hidden" name="id" value="${page.id}">
<button type="submit">${texts.account.apps.end(name)}</button>
</form>`,
  );
}

function renderCalls(texts: Texts, page: AppActivity): Markup {
  const words = texts.account.activity;
  const used = page.credentials.map(
    ({ name, calls }) =>
      markup`<li>${displayText(name)} <span class="note">${words.calls(calls)}</span></li>`,
  );
  const targets = page.targets.map(
    (
      target,
    ) => markup`<li class="item"><h3>${displayText(target.name, 128)} <span class="detail">${displayText(target.route)}</span></h3>
<p class="muted">${words.counted(target)}<br>${words.last(timeWords(texts, target.lastAt))}</p></li>
`,
  );
  const calls = page.calls.map(
    ({
      at,
      name,
      route,
      outcome,
      reason,
    }) => markup`<li class="item"><p><strong>${displayText(name, 128)}</strong> ${words.outcomes[outcome]}<span class="detail">${timeWords(texts, at)} ${displayText(route)}${reason !== undefined && markup` ${displayText(reason)}`}</span></p></li>
`,
  );
  return markup`<p>${words.introduction(page.days)}</p>
${
  targets.length > 0 &&
  markup`<h2>${words.byTool}</h2>
<ul class="items">
${targets}</ul>
`
}${page.countedNewest !== undefined && markup`<p class="muted">${words.newest(page.countedNewest)}</p>\n`}${page.hasMoreTargets && markup`<p class="muted">${words.more}</p>\n`}${
  used.length > 0 &&
  markup`<h2>${words.credentials}</h2>
<ul>${used}</ul>
`
}<h2>${words.eachCall}</h2>
<ul class="items">
${calls}</ul>
${page.older !== undefined && markup`<p><a href="${page.older}">${words.older}</a></p>`}`;
}
