import type { Texts } from '../../texts/texts.ts';
import { displayText, timeWords } from '../display-text.ts';
import { type Markup, markup } from '../markup.ts';
import { type AccountPageFrame, csrfField, renderAccountPage } from './frame.ts';

/** Longest value a person may enter, in characters: keys and tokens are shorter. */
export const maxCredentialLength = 8_192;

/** Something that a person enters for an MCP server. */
export interface EnteredField {
  name: string;
  /** What people call it. */
  label: string;
  /** Where people get it. */
  help?: string | undefined;
  /** Epoch seconds; absent where nothing is entered. */
  enteredAt?: number | undefined;
  /** Whether it is asked for; else it was, and can only be removed. */
  isAsked: boolean;
}

/** An MCP server, and what a person enters for it. */
export interface EnteredRoute {
  /** Its name in the settings, which stands in URLs. */
  route: string;
  /** What people call it. */
  label: string;
  fields: readonly EnteredField[];
}

function stateOf(texts: Texts, { enteredAt }: EnteredField): string {
  const words = texts.account.credentials;
  return enteredAt === undefined ? words.notEntered : words.entered(timeWords(texts, enteredAt));
}

/**
 * The page of what a person has entered for MCP servers, and may enter.
 * @returns a complete HTML document that needs no script
 */
export function renderCredentials(
  texts: Texts,
  page: AccountPageFrame & { routes: readonly EnteredRoute[] },
): string {
  const words = texts.account.credentials;
  return renderAccountPage(
    texts,
    page,
    words.heading,
    markup`<p>${words.explanation}</p>
<ul class="items">
${page.routes.map(
  ({ route, label, fields }) => markup`<li class="item"><h2><bdi>${displayText(label, 60)}</bdi></h2>
${fields.map(
  (
    field,
  ) => markup`<p><bdi>${displayText(field.label, 60)}</bdi><br><span class="muted">${stateOf(texts, field)}</span></p>
`,
)}<a class="button" href="${page.url}/credentials/${route}">${words.change(displayText(label, 60))}</a></li>
`,
)}</ul>`,
  );
}

function renderField(texts: Texts, { url, csrf, route }: RoutePage, field: EnteredField): Markup {
  const words = texts.account.credentials;
  const label = displayText(field.label, 60);
  const id = `value-${field.name}`;
  const action = `${url}/credentials/${route.route}`;
  const hidden = markup`${csrfField(csrf)}
<input type="hidden" name="credential" value="${field.name}">`;
  const isEntered = field.enteredAt !== undefined;
  const [stateId, helpId] = [`state-${field.name}`, `help-${field.name}`];
  const describedBy = field.help === undefined ? stateId : `${stateId} ${helpId}`;
  return markup`<li class="item"><h2><bdi>${label}</bdi></h2>
<p class="muted" id="${stateId}">${stateOf(texts, field)}${!field.isAsked && markup`<br>${words.notAsked}`}</p>
${
  field.help !== undefined &&
  markup`<p id="${helpId}">${displayText(field.help, 300)}</p>
`
}${
  field.isAsked &&
  markup`<form method="post" action="${action}">
${hidden}
<div class="field"><label for="${id}">${isEntered ? words.newValue(label) : label}</label>
<input id="${id}" name="value" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="${String(maxCredentialLength)}" aria-describedby="${describedBy}" required></div>
<button class="primary" type="submit">${isEntered ? words.replace(label) : words.enter(label)}</button>
</form>
`
}${
  isEntered &&
  markup`<form class="cancel" method="post" action="${action}/remove">
${hidden}
<button type="submit">${words.remove(label)}</button>
</form>
`
}</li>
`;
}

type RoutePage = AccountPageFrame & { route: EnteredRoute };

/**
 * The page on which a person enters what one MCP server needs of them. Posts `csrf`, `credential` and `value`, or to
 * `remove` without the value. No value that was entered is on it.
 * @returns a complete HTML document that needs no script
 */
export function renderRouteCredentials(texts: Texts, page: RoutePage): string {
  const words = texts.account.credentials;
  const label = displayText(page.route.label, 60);
  return renderAccountPage(
    texts,
    page,
    words.routeHeading(label),
    markup`<p>${words.routeExplanation(label)}</p>
<ul class="items">
${page.route.fields.map((field) => renderField(texts, page, field))}</ul>
<p class="muted">${words.kept}</p>`,
  );
}

/**
 * The page for somebody who opened what another account was asked to enter. It has no form but that of the logout.
 * @returns a complete HTML document that needs no script
 */
export function renderCredentialsOfAnother(texts: Texts, page: AccountPageFrame & { label: string }): string {
  const words = texts.account.credentials;
  const { url, csrf } = page;
  return renderAccountPage(
    texts,
    page,
    words.routeHeading(displayText(page.label, 60)),
    markup`<p>${words.ofAnother}</p>
<form method="post" action="${url}/logout">
${csrfField(csrf)}
<button class="primary" type="submit">${texts.account.logOut}</button>
</form>`,
  );
}
