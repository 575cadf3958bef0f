import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cookieName } from '../../../src/authorization-server/cookie-name.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import {
  approve,
  authorization,
  type Flow,
  obtainTokens,
  openConsent,
  post,
  register,
  tryAccess,
} from '../../support/oauth.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';
import { approveDevice, askForCode, deviceGrant, registerDevice } from '../device/subject.ts';

// What one model hands out is of no use where another one's is asked for.

let gatehouse: RunningGatehouse;
let clientId: string;
let verifier: string;
let deviceClient: string;
let pushing: Flow;
const urn = 'urn:ietf:params:oauth:request_uri:';
let visitor: Visitor;
/** One live artefact of each kind, by its name. */
const artefacts = new Map<string, string>();
const kinds = [
  'code',
  'access token',
  'refresh token',
  'ID token',
  'interaction',
  'session',
  'state',
  'client id',
  'client secret',
  'CSRF token',
  'account id',
  'device code',
  'user code',
  'pushed request',
] as const;

beforeAll(async () => {
  gatehouse = await startGatehouse({ limits: { deviceCodes: { times: 100, windowSeconds: 60 } } });
  visitor = createVisitor();
  const spent = await obtainTokens(gatehouse, { scope: 'openid notes:read', visitor });
  clientId = spent.clientId;
  const live = authorization(gatehouse, clientId);
  verifier = live.verifier;
  const code = (await approve(live, { visitor })).searchParams.get('code') ?? '';
  const open = await openConsent(authorization(gatehouse, clientId), visitor);
  const confidential = await register(gatehouse.url, { token_endpoint_auth_method: 'client_secret_post' });
  artefacts.set('code', code);
  artefacts.set('access token', spent.tokens.access_token);
  artefacts.set('refresh token', spent.tokens.refresh_token);
  artefacts.set('ID token', String((spent.tokens as unknown as { id_token: string }).id_token));
  artefacts.set('interaction', open.url.slice(open.url.lastIndexOf('/') + 1));
  artefacts.set('session', visitor.cookies.get(cookieName(gatehouse.url, 'session', 'host')) ?? '');
  artefacts.set('state', spent.flow.state);
  artefacts.set('client id', clientId);
  artefacts.set('client secret', String(confidential.client_secret));
  artefacts.set('CSRF token', /name="csrf" value="([^"]*)"/.exec(open.html)?.[1] ?? '');
  deviceClient = await registerDevice(gatehouse.url);
  const waiting = await askForCode(gatehouse, deviceClient);
  await approveDevice(waiting, createVisitor());
  artefacts.set('device code', waiting.deviceCode);
  artefacts.set('user code', (await askForCode(gatehouse, deviceClient)).userCode.replace('-', ''));
  pushing = authorization(gatehouse, clientId);
  const reference = await post(`${gatehouse.url}/par`, Object.fromEntries(new URL(pushing.url).searchParams));
  artefacts.set(
    'pushed request',
    ((await reference.json()) as { request_uri: string }).request_uri.slice(urn.length),
  );
  artefacts.set('account id', (await gatehouse.administration.accounts.list())[0]?.id ?? '');
});
afterAll(() => gatehouse.stop());

function artefact(kind: string): string {
  const value = artefacts.get(kind);
  if (!value) throw new Error(`there is no ${kind}`);
  return value;
}

/** Every kind but these. */
function but(...own: (typeof kinds)[number][]): string[] {
  return kinds.filter((kind) => !own.includes(kind));
}

async function expectUnchanged(attempt: () => Promise<void>): Promise<void> {
  const before = await countIssued(gatehouse.folder);
  await attempt();
  expect(await countIssued(gatehouse.folder)).toEqual(before);
}

describe('a value of another kind', () => {
  it.each(but('code'))('like %s is no authorization code (T-031)', (kind) =>
    expectUnchanged(async () => {
      const response = await post(`${gatehouse.url}/token`, {
        grant_type: 'authorization_code',
        client_id: clientId,
        redirect_uri: 'http://127.0.0.1:53682/callback',
        code_verifier: verifier,
        code: artefact(kind),
      });
      expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
    }),
  );

  it.each(but('refresh token'))('like %s is no refresh token (T-031)', (kind) =>
    expectUnchanged(async () => {
      const response = await post(`${gatehouse.url}/token`, {
        grant_type: 'refresh_token',
        client_id: clientId,
        refresh_token: artefact(kind),
      });
      expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
    }),
  );

  it.each(but('access token'))('like %s is no access token (T-031)', async (kind) => {
    expect(await tryAccess(gatehouse.mcpUrl, artefact(kind))).toBe(401);
  });

  it.each(but('interaction'))('like %s is no interaction, to be shown or taken up (T-031)', (kind) =>
    expectUnchanged(async () => {
      for (const place of ['interaction', 'authorize']) {
        const response = await visitor.request(
          `${gatehouse.url}/${place}/${encodeURIComponent(artefact(kind))}`,
        );
        expect([400, 404]).toContain(response.status);
        expect(response.headers.get('location')).toBeNull();
      }
    }),
  );

  it.each(but('session'))('like %s is no session (T-031)', async (kind) => {
    const changed = visitor.copy((name, value) =>
      name === cookieName(gatehouse.url, 'session', 'host') ? artefact(kind) : value,
    );
    const response = await changed.request(authorization(gatehouse, clientId, { prompt: 'none' }).url);
    expect(response.headers.get('location')).toContain('error=login_required');
  });

  it.each(but('client id'))('like %s is no client (T-031)', (kind) =>
    expectUnchanged(async () => {
      const response = await visitor.request(authorization(gatehouse, artefact(kind)).url);
      expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    }),
  );

  it.each(but('CSRF token'))('like %s is no CSRF token (T-031)', (kind) =>
    expectUnchanged(async () => {
      const response = await visitor.request(
        `${gatehouse.url}/interaction/${artefact('interaction')}/consent`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
          body: new URLSearchParams({
            csrf: artefact(kind),
            decision: 'allow',
            scope: 'notes:read',
          }).toString(),
        },
      );
      expect([response.status, response.headers.get('location')]).toEqual([403, null]);
    }),
  );

  it.each(but('access token', 'refresh token'))('like %s revokes nothing (T-031)', async (kind) => {
    const response = await post(`${gatehouse.url}/revoke`, { client_id: clientId, token: artefact(kind) });
    expect([200, 400]).toContain(response.status);
    expect(await tryAccess(gatehouse.mcpUrl, artefact('access token'))).toBe(200);
  });
});

describe('a value of another kind at the newer endpoints', () => {
  it.each(but('device code'))('like %s is no device code (T-031)', (kind) =>
    expectUnchanged(async () => {
      const response = await post(`${gatehouse.url}/token`, {
        grant_type: deviceGrant,
        client_id: deviceClient,
        device_code: artefact(kind),
      });
      expect([response.status, await response.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
    }),
  );

  it('is no user code (T-031, T-029)', async () => {
    for (const kind of but('user code')) {
      const browser = createVisitor();
      const page = await browser.open(`${gatehouse.url}/device`);
      const { response } = await browser.submit(page, '/device', [['user_code', artefact(kind)]]);
      expect(response.status, kind).toBe(400);
    }
  });

  it.each(but('pushed request'))('like %s is no pushed request (T-031)', (kind) =>
    expectUnchanged(async () => {
      const query = new URLSearchParams({ client_id: clientId, request_uri: `${urn}${artefact(kind)}` });
      const response = await visitor.request(`${gatehouse.url}/authorize?${query}`);
      expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    }),
  );

  it.each(kinds)('like %s takes no device up again (T-031)', (kind) =>
    expectUnchanged(async () => {
      const response = await visitor.request(`${gatehouse.url}/device/${encodeURIComponent(artefact(kind))}`);
      expect([400, 404]).toContain(response.status);
      expect(response.headers.get('location')).toBeNull();
    }),
  );

  it.each(but('ID token'))('like %s is no ID token at the logout (T-031, T-122)', async (kind) => {
    const query = new URLSearchParams({ id_token_hint: artefact(kind) });
    expect((await visitor.request(`${gatehouse.url}/session/end?${query}`)).status).toBe(400);
  });
});

describe('each of them', () => {
  it('is still good for what it is, after all that (T-031)', async () => {
    expect(await tryAccess(gatehouse.mcpUrl, artefact('access token'))).toBe(200);
    const redeemed = await post(`${gatehouse.url}/token`, {
      grant_type: 'authorization_code',
      client_id: clientId,
      redirect_uri: 'http://127.0.0.1:53682/callback',
      code_verifier: verifier,
      code: artefact('code'),
    });
    expect(redeemed.status).toBe(200);
    const refreshed = await post(`${gatehouse.url}/token`, {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: artefact('refresh token'),
    });
    expect(refreshed.status).toBe(200);
    const device = await post(`${gatehouse.url}/token`, {
      grant_type: deviceGrant,
      client_id: deviceClient,
      device_code: artefact('device code'),
    });
    expect(device.status).toBe(200);
    const query = new URLSearchParams({
      client_id: clientId,
      request_uri: `${urn}${artefact('pushed request')}`,
    });
    expect((await visitor.open(`${gatehouse.url}/authorize?${query}`)).response.status).toBe(200);
  });
});
