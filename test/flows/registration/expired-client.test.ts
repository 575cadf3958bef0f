import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { authorization, obtainTokens, post, refresh, register } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';

// Over src/storage/clients.ts and src/storage/sqlite/sweep.ts.

const day = 86_400;

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse();
});
afterAll(() => gatehouse.stop());

/** Carries out the sweep as it will be then. */
function sweepAfter(seconds: number): Promise<number> {
  return gatehouse.storage.sweepExpired(Math.floor(Date.now() / 1000) + seconds);
}

async function answers(clientId: string): Promise<unknown[]> {
  const page = await createVisitor().open(authorization(gatehouse, clientId).url);
  const token = await post(`${gatehouse.url}/token`, {
    grant_type: 'refresh_token',
    refresh_token: 'x',
    client_id: clientId,
  });
  const html = page.html.replaceAll(/Request [\w-]+|[0-9a-f]{8}-[0-9a-f-]{27}|[\w-]{16,}/g, 'NAME');
  return [page.response.status, html, token.status, await token.json()];
}

describe('a client that nobody consented to', () => {
  it('is answered a day after its registration as one that never was (T-061)', async () => {
    const { client_id: id } = await register(gatehouse.url);
    await createVisitor().open(authorization(gatehouse, id).url);
    await sweepAfter(day - 60);
    expect((await createVisitor().open(authorization(gatehouse, id).url)).response.status).toBe(200);
    await sweepAfter(day + 60);
    const expired = await answers(id);
    expect(expired).toEqual(await answers('never-registered-here'));
    expect([expired[0], expired[2]]).toEqual([400, 401]);
  });
});

describe('a client that somebody consented to', () => {
  it('stays for the life of the grant, and ninety days after its last use where that has ended (T-061)', async () => {
    const { clientId, tokens } = await obtainTokens(gatehouse);
    await sweepAfter(20 * day);
    expect((await refresh(gatehouse.url, clientId, tokens.refresh_token)).status).toBe(200);
    await post(`${gatehouse.url}/revoke`, { token: tokens.refresh_token, client_id: clientId });
    await sweepAfter(90 * day - 60);
    expect(await gatehouse.storage.clients.find(clientId)).toBeDefined();
    await sweepAfter(90 * day + 60);
    expect(await gatehouse.storage.clients.find(clientId)).toBeUndefined();
  });
});
