import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import type { KeyRing } from '../../../src/crypto/key-ring.ts';
import { generateKeySet } from '../../../src/crypto/key-schedule.ts';
import { postProven } from '../../support/bound-tokens.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { obtainTokens, refresh, register } from '../../support/oauth.ts';
import { createProver } from '../../support/proofs.ts';

type WithIdToken = { id_token: string };

/** A key ring that leaves the keys to the test. */
const idle: Pick<KeyRing, 'refresh' | 'list'> = { refresh: () => false, list: () => [] };
const keyRing = idle as KeyRing;

describe('the engine', () => {
  it('takes other signing keys while it runs: the first signs, and all are published (T-178)', async () => {
    const gatehouse = await startGatehouse({ keyRing, cluster: { port: 0 } });
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

  it('makes its nonces with the first cookie key of the moment, as a process does that starts now (T-178, A13-09)', async () => {
    const gatehouse = await startGatehouse({ keyRing, cluster: { port: 0 } });
    const { client_id } = await register(gatehouse.url);
    const prover = await createProver();
    const ask = ({ url }: { url: string }, nonce?: string): Promise<Response> =>
      postProven(
        url,
        prover,
        { grant_type: 'refresh_token', client_id, refresh_token: 'none' },
        nonce === undefined ? { claims: { iat: 1 } } : { nonce },
      );
    await ask(gatehouse);
    (gatehouse.keys.cookies as string[]).unshift(...(await generateKeySet()).cookies);

    const other = await startGatehouse({
      ...{ folder: gatehouse.folder, cluster: { port: 0 } },
      keys: gatehouse.keys,
      keyRing,
    });
    const told = await ask(other);
    expect(await told.json()).toMatchObject({ error: 'use_dpop_nonce' });
    const answer = await ask(gatehouse, told.headers.get('dpop-nonce') ?? '');
    expect(await answer.json()).toMatchObject({ error: 'invalid_grant' });
    await other.stop();
    await gatehouse.stop();
  });
});
