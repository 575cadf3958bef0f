import type { Texts } from '../texts/texts.ts';
import { displayText } from './display-text.ts';
import { renderLayout } from './layout.ts';
import { markup } from './markup.ts';

/** What the page at the public URL shows. */
export interface HomePage {
  /** The name of the MCP server. */
  name: string;
  mcpUrl: string;
  /** URL of the account page. */
  accountUrl: string;
}

/**
 * The page a person finds who opens the public URL: what this server is, and how an app is connected to it.
 * @param texts the words
 * @param page its content; every text is escaped
 * @returns a complete HTML document that needs no script
 */
export function renderHome(texts: Texts, { name, mcpUrl, accountUrl }: HomePage): string {
  const words = texts.home;
  return renderLayout(
    texts,
    texts.layout.title(name, texts.layout.product),
    markup`<h1>${words.heading}</h1>
<p>${words.introduction(markup`<bdi class="name">${displayText(name)}</bdi>`)}</p>
<dl>
<dt>${words.mcpUrl}</dt>
<dd><span class="detail">${mcpUrl}</span></dd>
<dt>${words.connect}</dt>
<dd><span class="detail">${`claude mcp add --transport http gatehouse ${mcpUrl}`}</span></dd>
</dl>
<p><a href="${accountUrl}">${words.account}</a></p>`,
  );
}
