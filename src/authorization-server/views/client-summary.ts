import type { Texts } from '../texts/texts.ts';
import { displayText } from './display-text.ts';
import { type Markup, markup } from './markup.ts';

/**
 * Description of a client for a page. The client itself, or the document at its id, provides all of it; every text may
 * be hostile.
 */
export interface ClientSummary {
  name: string;
  clientId: string;
  uri?: string;
  /** True if the operator registered it, or one with a name like its own. */
  standing?: 'operator' | 'namesake' | 'none';
}

/** @returns the client's name, inert and never empty, as plain text (T-059, T-060) */
export function clientName(texts: Texts, client: ClientSummary): string {
  return displayText(client.name) || texts.client.nameless;
}

/** @returns the client's name in quotation marks, isolated so that its writing direction moves nothing around it */
export function quotedClientName(texts: Texts, client: ClientSummary): Markup {
  return markup`<bdi class="name">${texts.client.quoted(clientName(texts, client))}</bdi>`;
}

/**
 * @param uri a client identifier or home page
 * @returns the ASCII host when the text is an https URL, otherwise undefined (A5-09, T-077)
 */
export function httpsHost(uri: string | undefined): string | undefined {
  const url = uri === undefined ? null : URL.parse(uri);
  return url?.protocol === 'https:' ? url.host : undefined;
}
