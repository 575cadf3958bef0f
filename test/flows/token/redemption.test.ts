// Flows of src/authorization-server/endpoints/token-endpoint.ts.
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import { post, redeem, refresh, register, tryAccess } from '../../support/oauth.ts';
import { countStatuses, expectRefused, expectTokens, generousLimits, obtainCode } from './subject.ts';

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse({ limits: generousLimits });
});
afterAll(() => gatehouse.stop());
afterEach(() => void vi.useRealTimers());

/** Moves the clock of the server, which is in this process. */
function moveClock(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
}

describe('a redemption', () => {
  it('gives an access and a refresh token to a client that never asked for offline_access (A9-03)', async () => {
    const { flow, code } = await obtainCode(gatehouse);
    const tokens = await expectTokens(await redeem(gatehouse.url, flow, code));
    expect(tokens).toEqual({
      access_token: expect.stringMatching(/^[\w-]{22,}$/),
      refresh_token: expect.stringMatching(/^[\w-]{22,}$/),
      expires_in: 3600,
      scope: 'notes:read notes:write',
      token_type: 'Bearer',
    });
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
  });

  it('gives no refresh token to a client that registered without the grant type', async () => {
    const client = await register(gatehouse.url, { grant_types: ['authorization_code'] });
    const { flow, code } = await obtainCode(gatehouse, client.client_id);
    expect(await expectTokens(await redeem(gatehouse.url, flow, code))).not.toHaveProperty('refresh_token');
  });

  it('by another client is refused, public or confidential, and the code stays with its own (T-033)', async () => {
    const { flow, code } = await obtainCode(gatehouse);
    const other = await register(gatehouse.url);
    await expectRefused(
      await redeem(gatehouse.url, flow, code, { client_id: other.client_id }),
      'invalid_grant',
    );
    const confidential = await register(gatehouse.url, { token_endpoint_auth_method: 'client_secret_post' });
    await expectRefused(
      await redeem(gatehouse.url, flow, code, {
        client_id: confidential.client_id,
        client_secret: String(confidential.client_secret),
      }),
      'invalid_grant',
    );
    await expectTokens(await redeem(gatehouse.url, flow, code));
  });

  it.each([
    ['another', 'http://127.0.0.1:53682/other', 'invalid_grant'],
    ['on another port', 'http://127.0.0.1:53683/callback', 'invalid_grant'],
    ['in another case', 'http://127.0.0.1:53682/Callback', 'invalid_grant'],
  ])('with a redirect_uri that is %s is refused (T-034)', async (_fault, uri, error) => {
    const { flow, code } = await obtainCode(gatehouse);
    const fields = {
      grant_type: 'authorization_code',
      client_id: flow.clientId,
      code_verifier: flow.verifier,
      code,
    };
    await expectRefused(await post(`${gatehouse.url}/token`, { ...fields, redirect_uri: uri }), error);
    await expectTokens(await redeem(gatehouse.url, flow, code));
  });

  it.each([
    ['missing', {}],
    ['empty', { redirect_uri: '' }],
  ])('with a redirect_uri that is %s is taken, as OAuth 2.1 has none here (FA-22)', async (_what, more) => {
    const { flow, code } = await obtainCode(gatehouse);
    const fields = { grant_type: 'authorization_code', client_id: flow.clientId, code, ...more };
    const token = `${gatehouse.url}/token`;
    await expectRefused(await post(token, { ...fields, code_verifier: 'x'.repeat(43) }), 'invalid_grant');
    await expectTokens(await post(token, { ...fields, code_verifier: flow.verifier }));
  });

  it('with a wrong verifier is refused; four of them do not use the code up (T-035)', async () => {
    const { flow, code } = await obtainCode(gatehouse);
    const wrong = ['x'.repeat(43), 'x'.repeat(128), flow.verifier.toLowerCase(), `${flow.verifier}x`];
    for (const code_verifier of wrong)
      await expectRefused(await redeem(gatehouse.url, flow, code, { code_verifier }), 'invalid_grant');
    await expectTokens(await redeem(gatehouse.url, flow, code));
  });

  it('with a fifth wrong verifier ends the code, also where the five come at once (T-035)', async () => {
    for (const atOnce of [false, true]) {
      const { flow, code } = await obtainCode(gatehouse);
      const fail = async () =>
        expectRefused(
          await redeem(gatehouse.url, flow, code, { code_verifier: 'x'.repeat(43) }),
          'invalid_grant',
        );
      if (atOnce) await Promise.all(Array.from({ length: 5 }, fail));
      else for (let failure = 0; failure < 5; failure++) await fail();
      await expectRefused(await redeem(gatehouse.url, flow, code), 'invalid_grant');
    }
  });

  it('for a resource that is not served here is refused, and uses nothing up (T-023, T-042)', async () => {
    const { flow, code } = await obtainCode(gatehouse);
    const before = await countIssued(gatehouse.folder);
    const elsewhere = { resource: 'https://elsewhere.example/mcp' };
    await expectRefused(await redeem(gatehouse.url, flow, code, elsewhere), 'invalid_target');
    expect(await countIssued(gatehouse.folder)).toEqual(before);
    await expectTokens(await redeem(gatehouse.url, flow, code));
  });
});

describe('the age of a code', () => {
  it('may be nearly a minute and not more (T-037)', async () => {
    const young = await obtainCode(gatehouse);
    const old = await obtainCode(gatehouse);
    moveClock(57);
    await expectTokens(await redeem(gatehouse.url, young.flow, young.code));
    moveClock(4);
    await expectRefused(await redeem(gatehouse.url, old.flow, old.code), 'invalid_grant');
  });

  it('may not be negative by more than clocks differ: a code from the future is refused (T-037)', async () => {
    moveClock(3600);
    const { flow, code } = await obtainCode(gatehouse);
    vi.useRealTimers();
    await expectRefused(await redeem(gatehouse.url, flow, code), 'invalid_grant');
  });
});

describe('a code used again', () => {
  it('is refused, and everything of its first use ends at once (T-032)', async () => {
    const { flow, code } = await obtainCode(gatehouse);
    const first = await expectTokens(await redeem(gatehouse.url, flow, code));
    const second = await expectTokens(await refresh(gatehouse.url, flow.clientId, first.refresh_token));
    await expectRefused(await redeem(gatehouse.url, flow, code), 'invalid_grant');
    for (const { access_token, refresh_token } of [first, second]) {
      expect(await tryAccess(gatehouse.mcpUrl, access_token)).toBe(401);
      await expectRefused(await refresh(gatehouse.url, flow.clientId, refresh_token), 'invalid_grant');
    }
    await expectRefused(await redeem(gatehouse.url, flow, code), 'invalid_grant');
  });

  it('without its verifier, or by another client, ends nothing', async () => {
    const { flow, code } = await obtainCode(gatehouse);
    const tokens = await expectTokens(await redeem(gatehouse.url, flow, code));
    const other = await register(gatehouse.url);
    await expectRefused(
      await redeem(gatehouse.url, flow, code, { client_id: other.client_id }),
      'invalid_grant',
    );
    await expectRefused(
      await redeem(gatehouse.url, flow, code, { code_verifier: 'x'.repeat(43) }),
      'invalid_grant',
    );
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
  });

  it('a hundred times at once gives tokens to one, and those are dead when all have been answered (T-036)', async () => {
    for (let round = 0; round < 3; round++) {
      const { flow, code } = await obtainCode(gatehouse);
      const responses = await Promise.all(
        Array.from({ length: 100 }, () => redeem(gatehouse.url, flow, code)),
      );
      expect(countStatuses(responses)).toEqual({ 200: 1, 400: 99 });
      for (const response of responses.filter(({ status }) => status === 400))
        expect(((await response.json()) as { error: string }).error).toBe('invalid_grant');
      const winner = responses.find(({ status }) => status === 200);
      if (!winner) throw new Error('nobody won');
      const tokens = await expectTokens(winner);
      expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
      await expectRefused(await refresh(gatehouse.url, flow.clientId, tokens.refresh_token), 'invalid_grant');
    }
  });
});
