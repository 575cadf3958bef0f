import { displayText } from './display-text.ts';
import { renderLayout } from './layout.ts';
import { markup } from './markup.ts';

/** What the signed-out notice shows. */
export interface SignedOutPage {
  /** What the person was signed in to. */
  resourceName: string;
}

/**
 * The notice after signing out of the browser session.
 * @param page its content; every text is escaped
 * @returns a complete HTML document that needs no script
 */
export function renderSignedOut(page: SignedOutPage): string {
  return renderLayout(
    `Signed out – ${displayText(page.resourceName)}`,
    markup`<h1>You are signed out</h1>
<p>This browser is no longer signed in to <bdi class="name">${displayText(page.resourceName)}</bdi>.</p>
<p class="muted">You can close this window.</p>`,
  );
}
