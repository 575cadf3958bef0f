import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import type { AccountStore } from '../../storage/accounts.ts';
import { showPage } from '../interactions/page.ts';
import { textsFor } from '../texts/page-texts.ts';
import { renderLogout } from '../views/logout.ts';

type Logout = NonNullable<NonNullable<Configuration['features']>['rpInitiatedLogout']>;

/** Shows the logout page for a request the engine has checked. @param action where its form goes */
export function showLogout(ctx: KoaContextWithOIDC, action: string, account: string | undefined): void {
  const { secret, postLogoutRedirectUri } = ctx.oidc.session?.state ?? {};
  const redirectUri = typeof postLogoutRedirectUri === 'string' ? postLogoutRedirectUri : undefined;
  showPage(ctx, renderLogout(textsFor(ctx), { action, csrf: String(secret), account, redirectUri }));
  ctx.state.logoutShown = true;
}

/**
 * Builds the engine's logout with a page of ours (OpenID Connect RP-Initiated Logout 1.0). Apps keep what they were
 * given: a logout ends the login of the browser, a grant ends where the person withdraws it.
 * @param action where the form of the page goes
 */
export function buildLogout(action: string, accounts: AccountStore): Logout {
  return {
    enabled: true,
    async logoutSource(ctx) {
      const account = await accounts.find(ctx.oidc.session?.accountId ?? '');
      showLogout(ctx, action, account?.email ?? '');
    },
  };
}
