// Flows of src/authorization-server/engine/adapter.ts.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cookieName } from '../../../src/authorization-server/cookie-name.ts';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { approve, authorization, redeem, refresh, register, tryAccess } from '../../support/oauth.ts';
import { queryDatabase, readDatabase, testStorage } from '../../support/test-storage.ts';
import { createVisitor } from '../../support/visitor.ts';
import { approveDevice, askForCode, registerDevice } from '../device/subject.ts';
import { expectTokens, generousLimits } from './subject.ts';

let gatehouse: RunningGatehouse;
/** Everything secret that has passed: by what it is. */
let secrets: Record<string, string>;

beforeAll(async () => {
  gatehouse = await startGatehouse({ limits: generousLimits });
  const client = await register(gatehouse.url, { token_endpoint_auth_method: 'client_secret_post' });
  const secret = { client_secret: String(client.client_secret) };
  const visitor = createVisitor();
  const flow = authorization(gatehouse, client.client_id, { scope: 'openid notes:read notes:write' });
  const code = (await approve(flow, { visitor })).searchParams.get('code') ?? '';
  const waiting = authorization(gatehouse, client.client_id);
  const waitingCode = (await approve(waiting, { visitor })).searchParams.get('code') ?? '';
  await visitor.open(authorization(gatehouse, client.client_id).url);
  const first = await expectTokens(await redeem(gatehouse.url, flow, code, secret));
  const second = await expectTokens(await refresh(gatehouse.url, flow.clientId, first.refresh_token, secret));
  expect(await tryAccess(gatehouse.mcpUrl, second.access_token)).toBe(200);
  await refresh(gatehouse.url, flow.clientId, 'wrong-refresh-token', secret);
  await refresh(gatehouse.url, flow.clientId, first.refresh_token, { client_secret: 'wrong-client-secret' });
  const device = await askForCode(gatehouse, await registerDevice(gatehouse.url));
  await approveDevice(device);
  const pending = await askForCode(gatehouse, device.clientId);
  secrets = {
    'device code': device.deviceCode,
    'pending device code': pending.deviceCode,
    'user code': pending.userCode,
    'user code without its hyphen': pending.userCode.replace('-', ''),
    password: ada.password,
    'client secret': secret.client_secret,
    'used code': code,
    'fresh code': waitingCode,
    verifier: flow.verifier,
    'first access token': first.access_token,
    'first refresh token': first.refresh_token,
    'second access token': second.access_token,
    'second refresh token': second.refresh_token,
    'ID token': String((first as typeof first & { id_token?: string }).id_token),
    'session cookie': visitor.cookies.get(cookieName(gatehouse.url, 'session', 'host')) ?? '',
    // The value is the page's own path; without its signature it opens nothing (T-015).
    'interaction cookie': visitor.cookies.get('gatehouse-interaction.sig') ?? '',
    'wrong refresh token': 'wrong-refresh-token',
    'wrong client secret': 'wrong-client-secret',
  };
});
afterAll(() => gatehouse.stop());

function expectNone(where: string, bytes: Buffer | string): void {
  for (const [what, secret] of Object.entries(secrets)) {
    expect(secret.length, what).toBeGreaterThan(7);
    // Of a dated token the date is no secret.
    expect(bytes.includes(secret.slice(-43)), `${what} in ${where}`).toBe(false);
  }
}

describe('secrets', () => {
  it('stand in no file beside the key file, the write-ahead log included (T-194, A9-04)', async () => {
    const keys = ['gatehouse.keys.json', 'gatehouse.master-key'];
    const files = readdirSync(gatehouse.folder).filter((name) => !keys.includes(name));
    if (testStorage === 'sqlite')
      expect(files).toEqual(expect.arrayContaining(['gatehouse.db', 'gatehouse.db-wal']));
    expectNone('the database', await readDatabase(gatehouse.folder));
    for (const name of files) expectNone(name, readFileSync(join(gatehouse.folder, name)));
  });

  it('stand in no row, not even what the engine keeps about them (T-194, A9-04)', async () => {
    const rows = await queryDatabase<{ payload: Buffer }>(
      gatehouse.folder,
      'SELECT id, payload FROM artifacts UNION ALL SELECT id, payload FROM clients',
    );
    expect(rows.length).toBeGreaterThan(5);
    for (const { payload } of rows)
      expect(payload.toString('latin1')).not.toMatch(/"(?:jti|accountId|scope|client_secret|kind)"/);
    const [account] = await queryDatabase(gatehouse.folder, 'SELECT password_hash AS hash FROM accounts');
    expect(account?.hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  it('stand in no log line at the most talkative level (T-194, A9-04)', () => {
    expect(gatehouse.log.length).toBeGreaterThan(10);
    expectNone('the log', gatehouse.log.join(''));
  });

  it('are of no use by the names they are stored under (T-194)', async () => {
    const ids = await queryDatabase<{ id: string }>(
      gatehouse.folder,
      "SELECT id FROM artifacts WHERE kind IN ('AccessToken', 'RefreshToken')",
    );
    expect(ids.length).toBeGreaterThanOrEqual(4);
    const open = await register(gatehouse.url);
    for (const { id } of ids) {
      expect(await tryAccess(gatehouse.mcpUrl, id)).toBe(401);
      expect((await refresh(gatehouse.url, open.client_id, id)).status).toBe(400);
    }
  });
});
