import type Provider from 'oidc-provider';
import { tolerate } from './tolerate.ts';

/** What a redirect URI on `localhost` is without its port; undefined for any other. */
function withoutLocalhostPort(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (url?.hostname !== 'localhost') return undefined;
  url.port = '';
  return url.href;
}

/**
 * Has the engine ask before it takes another port of `localhost` than the registered one. For `127.0.0.1` and `[::1]`
 * any port is right (RFC 8252 section 7.3); `localhost` is a name, which that leaves out (section 8.3). The engine's
 * documentation names this method as the one to put rules of one's own around (recipe "Redirect URI wildcards").
 * @param provider the engine, whose clients are asked
 */
export function compareLocalhostPorts(provider: Provider): void {
  const { prototype } = provider.Client;
  const { redirectUriAllowed: takesRedirect } = prototype;
  prototype.redirectUriAllowed = function takesRedirectUri(this: typeof prototype, uri: string): boolean {
    if (!takesRedirect.call(this, uri)) return false;
    if (this.redirectUris?.includes(uri) || withoutLocalhostPort(uri) === undefined) return true;
    return tolerate('localhostPort', `redirect_uri at ${new URL(uri).host}`);
  };
}
