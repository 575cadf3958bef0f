import type { Texts } from '../texts/texts.ts';
import { displayText } from './display-text.ts';
import { type Markup, markup } from './markup.ts';

/** What a page may say about a client: all of it the client said itself, or the document its id is the URL of; every text in it may be hostile. */
export interface ClientSummary {
  name: string;
  clientId: string;
  uri?: string;
  /** Whether the operator registered it, or one with a name like its own. */
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
