import type { Texts } from '../texts/texts.ts';
import { displayText } from './display-text.ts';
import { type Markup, markup } from './markup.ts';

/** A scope a person decides about. */
export interface AskedScope {
  scope: string;
  /** The operator's sentence for it. */
  description: string;
  /** The tools it opens, by name; absent if that is not known. */
  tools?: readonly string[];
  /** True if the app has it already, by an earlier consent. */
  isAllowed: boolean;
}

/** Most tools that are named; the others are counted. */
const maxNamed = 8;

/** Names of tools in a row, made inert (T-059, T-060); the servers behind choose them. */
function nameTools(texts: Texts, names: readonly string[]): Markup {
  const named = names
    .slice(0, maxNamed)
    .map((name, index) => markup`${index > 0 && ', '}<code>${displayText(name, 64)}</code>`);
  const more = names.length - named.length;
  return more > 0 ? texts.consent.andMore(markup`${named}`, more) : markup`${named}`;
}

function renderScope(texts: Texts, { scope, description, tools = [] }: AskedScope): Markup {
  return markup`<label class="scope"><input type="checkbox" name="scope" value="${scope}" checked><span>${displayText(description, 300)} <span class="detail">${scope}</span>${
    tools.length > 0 && markup` <span class="note">${texts.consent.tools(nameTools(texts, tools))}</span>`
  }</span></label>
`;
}

function renderGroup(texts: Texts, legend: string, scopes: readonly AskedScope[]): Markup | false {
  return (
    scopes.length > 0 &&
    markup`<fieldset><legend>${legend}</legend>
${scopes.map((scope) => renderScope(texts, scope))}</fieldset>
`
  );
}

/**
 * The scopes of a consent page, each with its checkbox: what is new apart from what was allowed before, and what any
 * app may use that is allowed at all.
 * @param scopes all that can be given, in the order of the request
 * @param freeTools tools that need no scope
 * @param hasEarlier whether the app has, or may have, access by an earlier consent, which can then be ended
 */
export function renderScopes(
  texts: Texts,
  scopes: readonly AskedScope[],
  freeTools: readonly string[],
  hasEarlier: boolean,
): Markup {
  const words = texts.consent;
  const allowed = scopes.filter(({ isAllowed }) => isAllowed);
  const others = scopes.filter(({ isAllowed }) => !isAllowed);
  return markup`${scopes.length === 0 && markup`<p>${words.noScopes}</p>`}${renderGroup(texts, hasEarlier ? words.newScopesLegend : words.scopesLegend, others)}${renderGroup(texts, words.allowedScopesLegend, allowed)}${
    freeTools.length > 0 && markup`<p class="muted">${words.freeTools(nameTools(texts, freeTools))}</p>`
  }${
    hasEarlier &&
    markup`<p class="muted">${words.askedAgain}</p>
<div class="group"><label class="option"><input type="checkbox" name="end_earlier" value="yes"><span>${words.endEarlier} <span class="note">${words.endEarlierDetail}</span></span></label></div>
`
  }`;
}
