import { type ClientSummary, clientName, httpsHost, quotedClientName } from './client-summary.ts';
import { displayText } from './display-text.ts';
import { renderLayout } from './layout.ts';
import { type Markup, markup } from './markup.ts';
import { describeRedirectTarget, type RedirectTarget } from './redirect-target.ts';

/** What the consent page shows and where its form goes. */
export interface ConsentPage {
  action: string;
  csrf: string;
  client: ClientSummary;
  /** How the logged-in account is called, usually its e-mail address. */
  account: string;
  resourceName: string;
  /** Resource indicator the token will be for (RFC 8707). */
  resource: string;
  /** The redirect URI of this authorization request. */
  redirectUri: string;
  scopes: { scope: string; description: string }[];
  /** Whether the client will also get a refresh token. */
  offlineAccess: boolean;
  switchAccountAction?: string;
}

function renderAccount(page: ConsentPage): Markup {
  return markup`<div class="account">
<p>Logged in as <bdi class="name">${displayText(page.account, 254)}</bdi></p>${
    page.switchAccountAction !== undefined &&
    markup`
<form method="post" action="${page.switchAccountAction}">
<input type="hidden" name="csrf" value="${page.csrf}">
<button class="link" type="submit">Use another account</button>
</form>`
  }
</div>`;
}

/**
 * How far it is known who asks. A document at a site proves that the site vouches for what it says, redirect hosts
 * included; behind a loopback address or a scheme any app on the device may use somebody else's document (T-077).
 */
function renderIdentity(client: ClientSummary, target: RedirectTarget): Markup {
  const publisher = httpsHost(client.clientId);
  const name = quotedClientName(client);
  const goesTo = markup`Your approval goes to <strong>${target.words}</strong>`;
  if (publisher !== undefined && target.caution === undefined)
    return markup`<div class="notice">
<p><strong>Described by ${publisher}:</strong> that site calls the app ${name}. ${goesTo}, which it names for this.</p>
</div>`;
  const claim =
    publisher === undefined
      ? markup`the app chose the name ${name} itself`
      : markup`the app says it is ${name}, described by <strong>${publisher}</strong>. Any app on this device can say that`;
  const caution = target.caution !== undefined && markup`<p>${target.caution}</p>`;
  return markup`<div class="notice caution">
<p><strong>Not checked:</strong> ${claim}. ${goesTo} – only that is certain.</p>
${caution}</div>`;
}

function renderFacts(page: ConsentPage, target: RedirectTarget): Markup {
  const publisher = httpsHost(page.client.clientId);
  const website = httpsHost(page.client.uri);
  return markup`<dl>
<dt>Your approval is sent to</dt>
<dd><strong>${target.words}</strong> <span class="detail">${displayText(page.redirectUri, 300)}</span></dd>
<dt>For use of</dt>
<dd><bdi>${displayText(page.resourceName)}</bdi> <span class="detail">${displayText(page.resource, 300)}</span></dd>
<dt>${publisher === undefined ? 'App identifier' : 'App described by'}</dt>
<dd>${publisher} <span class="detail">${displayText(page.client.clientId, 300)}</span></dd>${
    website !== undefined &&
    markup`
<dt>Website the app names (not checked)</dt>
<dd>${website}</dd>`
  }
</dl>`;
}

function renderScope({ scope, description }: ConsentPage['scopes'][number]): Markup {
  return markup`<label class="scope"><input type="checkbox" name="scope" value="${scope}" checked><span>${displayText(description, 300)} <span class="detail">${scope}</span></span></label>
`;
}

function renderScopes(scopes: ConsentPage['scopes']): Markup {
  if (scopes.length === 0) return markup`<p>The app asks for no particular permission.</p>`;
  return markup`<fieldset><legend>The app will be able to</legend>
${scopes.map(renderScope)}</fieldset>`;
}

/**
 * The consent page: who asks, how far that is known, where the code goes, and each scope in words. Posts `csrf`,
 * the kept `scope` values and `decision` (`allow` or `deny`) to `action`. Deny is the first button, so that the
 * Enter key in the form refuses.
 * @param page its content; every text is escaped, client text is made inert (T-059, T-060)
 * @returns a complete HTML document that needs no script
 * @throws TypeError when `redirectUri` could not have been registered
 * @see MCP security best practices, consent UI (A5-09, A11-03, T-077)
 */
export function renderConsent(page: ConsentPage): string {
  const target = describeRedirectTarget(page.redirectUri);
  const resourceName = displayText(page.resourceName);
  return renderLayout(
    `Allow ${clientName(page.client)}? – ${resourceName}`,
    markup`<h1>Allow ${quotedClientName(page.client)} to use <bdi>${resourceName}</bdi>?</h1>
${renderAccount(page)}
${renderIdentity(page.client, target)}
<form method="post" action="${page.action}">
<input type="hidden" name="csrf" value="${page.csrf}">
${renderScopes(page.scopes)}
${page.offlineAccess && markup`<p>The app keeps this access while you are away, until you withdraw it.</p>`}
${renderFacts(page, target)}
<div class="decision">
<button type="submit" name="decision" value="deny">Deny</button>
<button class="primary" type="submit" name="decision" value="allow">Allow</button>
</div>
</form>`,
  );
}
