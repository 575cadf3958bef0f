import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { generateKeySet } from '../../../src/crypto/keys.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, refresh } from '../../support/oauth.ts';

type WithIdToken = { id_token: string };

describe('the engine', () => {
  it('takes other signing keys while it runs: the first signs, and all are published (T-178)', async () => {
    const gatehouse = await startGatehouse();
    const keySet = async () => (await (await fetch(`${gatehouse.url}/jwks`)).json()) as JSONWebKeySet;
    const before = await keySet();
    const { tokens, clientId } = await obtainTokens(gatehouse, { scope: 'openid notes:read' });
    const { id_token: first } = tokens as typeof tokens & WithIdToken;

    const live = gatehouse.keys.signing as object[];
    live.unshift(...(await generateKeySet()).signing);
    const answer = await refresh(gatehouse.url, clientId, tokens.refresh_token);
    const { id_token: second } = (await answer.json()) as WithIdToken;
    const after = await keySet();
    expect(after.keys.map(({ kid }) => kid)).toEqual([
      decodeProtectedHeader(second).kid,
      before.keys[0]?.kid,
    ]);
    expect(JSON.stringify(after)).not.toContain('"d"');
    for (const token of [first, second]) await jwtVerify(token, createLocalJWKSet(after));
    await gatehouse.stop();
  });
});
