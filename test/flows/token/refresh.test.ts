// Flows of src/authorization-server/endpoints/token-endpoint.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import { obtainTokens, redeem, refresh, register, tryAccess } from '../../support/oauth.ts';
import { expectRefused, expectTokens, generousLimits, obtainCode } from './subject.ts';

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

describe('a refresh', () => {
  it('rotates: each gives a new access token and a new refresh token, and both work (A9-01)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const seen = [tokens];
    for (let round = 0; round < 3; round++)
      seen.push(await expectTokens(await refresh(gatehouse.url, clientId, seen.at(-1)?.refresh_token ?? '')));
    expect(new Set(seen.flatMap((each) => [each.access_token, each.refresh_token])).size).toBe(8);
    for (const { access_token } of seen) expect(await tryAccess(gatehouse.mcpUrl, access_token)).toBe(200);
  });

  it('rotates for confidential clients as well (A9-01)', async () => {
    const client = await register(gatehouse.url, { token_endpoint_auth_method: 'client_secret_post' });
    const secret = { client_secret: String(client.client_secret) };
    const { flow, code } = await obtainCode(gatehouse, client.client_id);
    const first = await expectTokens(await redeem(gatehouse.url, flow, code, secret));
    const second = await expectTokens(
      await refresh(gatehouse.url, client.client_id, first.refresh_token, secret),
    );
    expect(second.refresh_token).not.toBe(first.refresh_token);
  });

  it('with a token that was used before the grace window ends the whole grant (T-040)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const next = await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
    moveClock(121);
    await expectRefused(await refresh(gatehouse.url, clientId, tokens.refresh_token), 'invalid_grant');
    await expectRefused(await refresh(gatehouse.url, clientId, next.refresh_token), 'invalid_grant');
    expect(await tryAccess(gatehouse.mcpUrl, next.access_token)).toBe(401);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(401);
  });

  it('by another client is refused and ends nothing (T-041)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const other = await register(gatehouse.url);
    await expectRefused(await refresh(gatehouse.url, other.client_id, tokens.refresh_token), 'invalid_grant');
    await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
  });

  it('takes no access token, and the MCP endpoint takes no refresh and no ID token (T-041)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse, { scope: 'openid notes:read notes:write' });
    await expectRefused(await refresh(gatehouse.url, clientId, tokens.access_token), 'invalid_grant');
    expect(await tryAccess(gatehouse.mcpUrl, tokens.refresh_token)).toBe(401);
    const { id_token: idToken } = tokens as typeof tokens & { id_token?: string };
    expect(idToken?.split('.')).toHaveLength(3);
    expect(await tryAccess(gatehouse.mcpUrl, idToken ?? '')).toBe(401);
    expect(await tryAccess(gatehouse.mcpUrl, tokens.access_token)).toBe(200);
  });

  it.each([
    ['a scope beyond what was granted', { scope: 'notes:read admin' }, 'invalid_scope'],
    ['a scope the person left out', { scope: 'notes:read notes:write' }, 'invalid_scope'],
    ['another resource', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
    ['a resource that is no URL', { resource: 'mcp' }, 'invalid_target'],
  ])('for %s is refused, and the token stays good for the next try (T-042)', async (_what, fields, error) => {
    const { clientId, tokens } = await obtainTokens(gatehouse, {
      scope: 'notes:read',
      scopes: ['notes:read'],
    });
    const before = await countIssued(gatehouse.folder);
    await expectRefused(await refresh(gatehouse.url, clientId, tokens.refresh_token, fields), error);
    expect(await countIssued(gatehouse.folder)).toEqual(before);
    await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
  });

  it.each([
    ['notes:read notes:write offline_access', 'notes:read notes:write'],
    ['notes:read openid', 'notes:read'],
    ['offline_access', 'notes:read notes:write'],
  ])(
    'for %s, as the metadata lists it, leaves out what a login without it did not get (FA-50)',
    async (scope, given) => {
      const { clientId, tokens } = await obtainTokens(gatehouse);
      let last = tokens;
      for (let round = 0; round < 2; round++) {
        last = await expectTokens(await refresh(gatehouse.url, clientId, last.refresh_token, { scope }));
        expect(last.scope).toBe(given);
        expect(last).not.toHaveProperty('id_token');
      }
    },
  );

  it('for openid keeps giving an ID token to a login that has it (FA-50)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse, { scope: 'openid notes:read notes:write' });
    const scope = 'openid notes:read offline_access';
    expect(
      await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token, { scope })),
    ).toHaveProperty('id_token');
  });

  it('for scopes beyond the grant is told in the audit log, with their names (FA-50)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse, { scope: 'notes:read' });
    const scope = 'notes:read notes:write';
    await expectRefused(
      await refresh(gatehouse.url, clientId, tokens.refresh_token, { scope }),
      'invalid_scope',
    );
    const lines = gatehouse.log.filter((line) => line.includes('token.refused') && line.includes(clientId));
    expect(JSON.parse(lines.at(-1) ?? '{}')).toMatchObject({ reason: 'not granted: notes:write' });
  });

  it('for fewer scopes gives an access token with those alone, and keeps the grant whole', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const narrow = await expectTokens(
      await refresh(gatehouse.url, clientId, tokens.refresh_token, { scope: 'notes:read' }),
    );
    expect(narrow.scope).toBe('notes:read');
    const whole = await expectTokens(await refresh(gatehouse.url, clientId, narrow.refresh_token));
    expect(whole.scope).toBe('notes:read notes:write');
  });

  it('for the resource in another spelling is taken (A7-03)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const resource = `${gatehouse.mcpUrl.replace('http:', 'HTTP:')}/`;
    const next = await expectTokens(
      await refresh(gatehouse.url, clientId, tokens.refresh_token, { resource }),
    );
    expect(await tryAccess(gatehouse.mcpUrl, next.access_token)).toBe(200);
  });
});

describe('the life of refresh tokens', () => {
  it('ends with the consent, however often they are refreshed (T-045)', async () => {
    const short = await startGatehouse({
      limits: generousLimits,
      tokens: { grantSeconds: 1000, refreshTokenSeconds: 400, accessTokenSeconds: 60 },
    });
    try {
      const { clientId, tokens } = await obtainTokens(short);
      let refreshToken = tokens.refresh_token;
      for (let passed = 0; passed < 900; passed += 300) {
        moveClock(300);
        refreshToken = (await expectTokens(await refresh(short.url, clientId, refreshToken))).refresh_token;
      }
      moveClock(80);
      refreshToken = (await expectTokens(await refresh(short.url, clientId, refreshToken))).refresh_token;
      moveClock(30);
      await expectRefused(await refresh(short.url, clientId, refreshToken), 'invalid_grant');
    } finally {
      await short.stop();
    }
  });

  it('of one that is not used ends sooner', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    const other = await obtainTokens(gatehouse);
    moveClock(30 * 86_400 - 60);
    await expectTokens(await refresh(gatehouse.url, clientId, tokens.refresh_token));
    moveClock(120);
    await expectRefused(
      await refresh(gatehouse.url, other.clientId, other.tokens.refresh_token),
      'invalid_grant',
    );
  });
});

describe('a restart', () => {
  it.each([
    ['of a server without a grace window', 0, 0],
    ['that took longer than the grace window', 120, 121],
  ])('%s does not forget which tokens were used (T-046)', async (_what, refreshGraceSeconds, pause) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-restart-'));
    const options = { folder, limits: generousLimits, tokens: { refreshGraceSeconds } };
    const first = await startGatehouse(options);
    const { clientId, tokens } = await obtainTokens(first);
    const next = await expectTokens(await refresh(first.url, clientId, tokens.refresh_token));
    await first.stop();
    const second = await startGatehouse({ ...options, port: Number(new URL(first.url).port) });
    try {
      // A kept connection to the stopped server is found closed only now.
      await fetch(`${second.url}/healthz`).catch(() => undefined);
      expect(await tryAccess(second.mcpUrl, next.access_token)).toBe(200);
      if (pause > 0) moveClock(pause);
      await expectRefused(await refresh(second.url, clientId, tokens.refresh_token), 'invalid_grant');
      await expectRefused(await refresh(second.url, clientId, next.refresh_token), 'invalid_grant');
    } finally {
      await second.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
