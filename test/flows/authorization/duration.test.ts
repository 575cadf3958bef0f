import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import {
  authorization,
  obtainTokens,
  openConsent,
  refresh,
  register,
  type Tokens,
  tryAccess,
} from '../../support/oauth.ts';
import { shownCode } from '../../support/refusal.ts';
import { createVisitor } from '../../support/visitor.ts';

// Over src/authorization-server/views/duration-choice.ts, src/authorization-server/interactions/consent.ts and
// src/authorization-server/engine/configuration.ts.

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse();
});
afterEach(() => void vi.useRealTimers());
afterAll(() => gatehouse.stop());

function passTime(seconds: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });
}

const chosen = (duration: string) => ({ fields: [['duration', duration]] as [string, string][] });

describe('access that is given for a time', () => {
  it('ends with it: neither an access token nor a refresh outlives it (T-045)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse, chosen('hour'));
    expect(tokens.expires_in).toBeLessThanOrEqual(3600);
    passTime(3000);
    const again = await refresh(gatehouse.url, clientId, tokens.refresh_token);
    const renewed = (await again.json()) as Tokens;
    expect(again.status).toBe(200);
    expect(renewed.expires_in).toBeLessThanOrEqual(600);
    expect(await tryAccess(gatehouse.mcpUrl, renewed.access_token)).toBe(200);
    passTime(700);
    expect(await tryAccess(gatehouse.mcpUrl, renewed.access_token)).toBe(401);
    expect((await refresh(gatehouse.url, clientId, renewed.refresh_token)).status).toBe(400);
  });

  it('for a day is refreshed for a day', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse, chosen('day'));
    passTime(86_000);
    const again = await refresh(gatehouse.url, clientId, tokens.refresh_token);
    expect(again.status).toBe(200);
    expect(((await again.json()) as Tokens).expires_in).toBeLessThanOrEqual(400);
  });

  it('until it is withdrawn outlives the day', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse, chosen('revoked'));
    passTime(20 * 86_400);
    expect((await refresh(gatehouse.url, clientId, tokens.refresh_token)).status).toBe(200);
  });

  it('is refused for a time that was not offered, and nothing is given', async () => {
    const { client_id } = await register(gatehouse.url);
    const visitor = createVisitor();
    const page = await openConsent(authorization(gatehouse, client_id), visitor);
    const { response, html } = await visitor.submit(page, '/consent', [
      ['decision', 'allow'],
      ['scope', 'notes:read'],
      ['duration', 'century'],
    ]);
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    expect(shownCode(html)).toBe('invalid_request');
  });

  it('has nothing to choose for a client that cannot refresh', async () => {
    const { client_id } = await register(gatehouse.url, { grant_types: ['authorization_code'] });
    const { html } = await openConsent(authorization(gatehouse, client_id), createVisitor());
    expect(html).toContain('The app keeps this access for 60 minutes at most.');
    expect(html).not.toContain('name="duration"');
  });
});
