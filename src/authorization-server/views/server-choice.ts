import type { Texts } from '../texts/texts.ts';
import { type ClientSummary, clientName, quotedClientName } from './client-summary.ts';
import { displayText } from './display-text.ts';
import { renderLayout } from './layout.ts';
import { markup } from './markup.ts';

/** The page that asks which server an app means. */
export interface ServerChoicePage {
  action: string;
  csrf: string;
  client: ClientSummary;
  servers: readonly { name: string; resource: string }[];
}

/**
 * The page that asks which server an app means. Posts `csrf`, `resource`, and `decision` (`choose` or `deny`) to `action`.
 * Nothing is chosen at first, so that nobody allows a server by a click on the way.
 * @param texts the words
 * @param page its content; every text is escaped
 * @returns a complete HTML document that needs no script
 */
export function renderServerChoice(
  texts: Texts,
  { action, csrf, client, servers }: ServerChoicePage,
): string {
  const words = texts.serverChoice;
  return renderLayout(
    texts,
    texts.layout.title(words.title(clientName(texts, client)), texts.layout.product),
    markup`<h1>${words.heading(quotedClientName(texts, client))}</h1>
<p>${words.explanation}</p>
<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
<fieldset><legend>${words.legend}</legend>
${servers.map(
  ({ name, resource }) =>
    markup`<label class="scope"><input type="radio" name="resource" value="${resource}" required><span><bdi>${displayText(name)}</bdi><span class="detail">${displayText(resource, 300)}</span></span></label>
`,
)}</fieldset>
<div class="decision">
<button type="submit" name="decision" value="deny" formnovalidate>${texts.login.cancel}</button>
<button class="primary" type="submit" name="decision" value="choose">${texts.onward.goOn}</button>
</div>
</form>`,
  );
}
