import type { Caller } from '../../mcp/protocol.ts';
import type { AuthInfo } from '../../oauth/auth-info.ts';

/** Somebody for whom the gateway itself asks a server that serves everybody. */
const nobody: AuthInfo = {
  issuer: '',
  subject: '',
  clientId: '',
  scopes: [],
  audience: '',
  expiresAt: 0,
};

/** Makes a caller of who is known to call, if there is no request of 2026-07-28 whose headers count. */
export function callerFor(authInfo: AuthInfo = nobody): Caller {
  return { authInfo, headers: {}, request: () => new Request('https://gateway.invalid/') };
}
