// The checks of the token endpoint for codes and refresh tokens, one table: each wrong request is refused and issues nothing.
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import { approve, authorization, post, register, tryAccess } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';
import { expectRefused, expectTokens, generousLimits } from './subject.ts';

type Fields = Record<string, string>;

const otherResource = 'https://files.example/mcp';

let gatehouse: RunningGatehouse;
let clientId: string;
beforeAll(async () => {
  gatehouse = await startGatehouse({
    limits: generousLimits,
    resources: [{ resource: otherResource, name: 'Files', scopes: { 'files:read': 'Read.' } }],
  });
  clientId = (await register(gatehouse.url)).client_id;
});
afterAll(() => gatehouse.stop());
afterEach(() => void vi.useRealTimers());

const ask = (fields: Fields): Promise<Response> => post(`${gatehouse.url}/token`, fields);

/** Moves the clock of the server, which is in this process. */
function moveClock(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
}

async function obtainCode(client = clientId): Promise<Fields> {
  const flow = authorization(gatehouse, client);
  const callback = await approve(flow, { visitor: createVisitor() });
  return {
    grant_type: 'authorization_code',
    client_id: client,
    redirect_uri: flow.redirectUri,
    code_verifier: flow.verifier,
    code: callback.searchParams.get('code') ?? '',
  };
}

async function obtainRefresh(): Promise<Fields> {
  const { refresh_token } = await expectTokens(await ask(await obtainCode()));
  return { grant_type: 'refresh_token', client_id: clientId, refresh_token };
}

/** Redeems the code or the refresh token of a request, so that it is used. */
async function use(fields: Fields): Promise<Fields> {
  await expectTokens(await ask(fields));
  return fields;
}

const wrong: Record<string, { prepare: () => Promise<Fields>; error?: string; status?: number }> = {
  'an unknown refresh token': {
    prepare: async () => ({ ...(await obtainRefresh()), refresh_token: 'x'.repeat(43) }),
  },
  'an unknown client': {
    prepare: async () => ({ ...(await obtainRefresh()), client_id: 'nobody' }),
    error: 'invalid_client',
    status: 401,
  },
  'the refresh token of another client': {
    prepare: async () => ({
      ...(await obtainRefresh()),
      client_id: (await register(gatehouse.url)).client_id,
    }),
  },
  'the code of a client that has a secret, without the secret': {
    prepare: async () => {
      const client = await register(gatehouse.url, { token_endpoint_auth_method: 'client_secret_post' });
      return obtainCode(client.client_id);
    },
    error: 'invalid_client',
    status: 401,
  },
  'an expired refresh token': {
    prepare: async () => {
      const fields = await obtainRefresh();
      moveClock(31 * 86_400);
      return fields;
    },
  },
  'an expired consent': {
    prepare: async () => {
      const fields = await obtainRefresh();
      moveClock(181 * 86_400);
      return fields;
    },
  },
  'a refresh token that was used before the grace window': {
    prepare: async () => {
      const fields = await use(await obtainRefresh());
      moveClock(121);
      return fields;
    },
  },
  'a refresh token whose grant was revoked': {
    prepare: async () => {
      const fields = await obtainRefresh();
      await post(`${gatehouse.url}/revoke`, { client_id: clientId, token: fields.refresh_token ?? '' });
      return fields;
    },
  },
  'a resource that was not granted': {
    prepare: async () => ({ ...(await obtainRefresh()), resource: otherResource }),
    error: 'invalid_target',
  },
  'a resource of another server': {
    prepare: async () => ({ ...(await obtainRefresh()), resource: 'https://elsewhere.example/mcp' }),
    error: 'invalid_target',
  },
  'an access token in the place of a refresh token': {
    prepare: async () => {
      const fields = await obtainRefresh();
      const { access_token } = await expectTokens(await ask(fields));
      return { ...fields, refresh_token: access_token };
    },
  },
  'a wrong code verifier': {
    prepare: async () => ({ ...(await obtainCode()), code_verifier: 'w'.repeat(43) }),
  },
  'a code verifier that is too short': {
    prepare: async () => ({ ...(await obtainCode()), code_verifier: 'short' }),
    error: 'invalid_request',
  },
  'another redirect URI': {
    prepare: async () => ({ ...(await obtainCode()), redirect_uri: 'http://127.0.0.1:1/callback' }),
  },
  'the code of another client': {
    prepare: async () => ({ ...(await obtainCode()), client_id: (await register(gatehouse.url)).client_id }),
  },
  'an unknown code': { prepare: async () => ({ ...(await obtainCode()), code: 'c'.repeat(43) }) },
  'a code that was redeemed': { prepare: async () => use(await obtainCode()) },
  'an expired code': {
    prepare: async () => {
      const fields = await obtainCode();
      moveClock(61);
      return fields;
    },
  },
  'a code from a clock that is ahead': {
    prepare: async () => {
      const fields = await obtainCode();
      moveClock(-3_600);
      return fields;
    },
  },
};

describe('The token endpoint', () => {
  it.each(Object.entries(wrong))(
    'refuses %s, issues nothing and notes it in the audit log (T-032 to T-044, T-197)',
    async (_what, { prepare, error = 'invalid_grant', status = 400 }) => {
      const fields = await prepare();
      const before = await countIssued(gatehouse.folder);
      const logged = gatehouse.log.length;
      await expectRefused(await ask(fields), error, status);
      const after = await countIssued(gatehouse.folder);
      expect(after.accessTokens).toBeLessThanOrEqual(before.accessTokens);
      expect(after.refreshTokens).toBeLessThanOrEqual(before.refreshTokens);
      const refusals = gatehouse.log
        .slice(logged)
        .map((line) => JSON.parse(line) as Fields)
        .filter(({ audit }) => audit === 'token.refused');
      expect(refusals).toMatchObject([{ error }]);
    },
  );

  it('refuses a refresh while the account is disabled, and the grant stays ended when it is enabled (T-166)', async () => {
    const fields = await obtainRefresh();
    const { accounts } = gatehouse.administration;
    await accounts.disable(ada.email);
    await expectRefused(await ask(fields), 'invalid_grant');
    await accounts.enable(ada.email);
    await expectRefused(await ask(fields), 'invalid_grant');
  });

  it('issues one family for a code, whose refreshes follow each other, and each works (T-036, T-043, T-164, T-165)', async () => {
    let { access_token, refresh_token } = await expectTokens(await ask(await obtainCode()));
    for (let rotation = 0; rotation < 4; rotation++) {
      expect(await tryAccess(gatehouse.mcpUrl, access_token)).toBe(200);
      const fields = { grant_type: 'refresh_token', client_id: clientId, refresh_token };
      const next = await expectTokens(await ask(fields));
      // An answer that was lost is given again, and nothing forks (T-043, T-165).
      expect(await expectTokens(await ask(fields))).toMatchObject({
        access_token: next.access_token,
        refresh_token: next.refresh_token,
      });
      ({ access_token, refresh_token } = next);
    }
  });
});
