import { approve, authorization, redeem, register, type Tokens } from '../test/support/oauth.ts';
import { person } from './person.ts';

/**
 * Gets an access token of a gatehouse the way a client does: registration, login, consent, code.
 * @param scopes those the person leaves ticked
 */
export async function obtainAccessToken(url: string, scopes: string[]): Promise<string> {
  const { client_id: clientId } = await register(url);
  const flow = authorization({ url, mcpUrl: `${url}/mcp` }, clientId, { scope: undefined });
  const callback = await approve(flow, { person, scopes });
  const response = await redeem(url, flow, callback.searchParams.get('code') ?? '');
  if (response.status !== 200) throw new Error(`no token: ${response.status} ${await response.text()}`);
  return ((await response.json()) as Tokens).access_token;
}
