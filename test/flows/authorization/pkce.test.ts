import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import { approve, authorization, type Flow, post, redeem, register } from '../../support/oauth.ts';
import { expectErrorPage } from '../../support/refusal.ts';
import { createVisitor } from '../../support/visitor.ts';

const clientKinds = ['none', 'client_secret_basic', 'client_secret_post'] as const;

let gatehouse: RunningGatehouse;
const clients = new Map<string, { client_id: string; client_secret?: string }>();
beforeAll(async () => {
  gatehouse = await startGatehouse();
  for (const kind of clientKinds)
    clients.set(kind, await register(gatehouse.url, { token_endpoint_auth_method: kind }));
});
afterAll(() => gatehouse.stop());

function clientOf(kind: string): { client_id: string; client_secret?: string } {
  const client = clients.get(kind);
  if (!client) throw new Error(`no client of the kind ${kind}`);
  return client;
}

function redeemAs(kind: string, flow: Flow, code: string, verifier: string | undefined): Promise<Response> {
  const { client_id: id, client_secret: secret = '' } = clientOf(kind);
  const fields = {
    grant_type: 'authorization_code',
    redirect_uri: flow.redirectUri,
    code,
    ...(verifier === undefined ? undefined : { code_verifier: verifier }),
    ...(kind === 'client_secret_basic' ? undefined : { client_id: id }),
    ...(kind === 'client_secret_post' ? { client_secret: secret } : undefined),
  };
  const credentials = Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`);
  const headers: Record<string, string> =
    kind === 'client_secret_basic' ? { authorization: `Basic ${credentials.toString('base64')}` } : {};
  return post(`${gatehouse.url}/token`, fields, headers);
}

async function expectRefused(response: Response, error: string): Promise<void> {
  expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([400, error]);
}

describe.each(clientKinds)('a client that authenticates with %s', (kind) => {
  it('gets no code without a code challenge (T-006, A1-04)', async () => {
    const { url } = authorization(gatehouse, clientOf(kind).client_id, {
      code_challenge: undefined,
      code_challenge_method: undefined,
    });
    const before = await countIssued(gatehouse.folder);
    await expectErrorPage(await createVisitor().request(url), 'invalid_request');
    await expectErrorPage(
      await createVisitor().request(url.replace('scope=', 'prompt=login&scope=')),
      'invalid_request',
    );
    expect(await countIssued(gatehouse.folder)).toEqual(before);
  });

  it('gets tokens for a code with the verifier of its challenge (A1-04, A6-11)', async () => {
    const flow = authorization(gatehouse, clientOf(kind).client_id);
    const callback = await approve(flow);
    const response = await redeemAs(kind, flow, callback.searchParams.get('code') ?? '', flow.verifier);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({ token_type: 'Bearer', access_token: expect.any(String) });
  });

  it('gets no tokens without the verifier, or with another one (T-008)', async () => {
    const flow = authorization(gatehouse, clientOf(kind).client_id);
    const code = (await approve(flow)).searchParams.get('code') ?? '';
    const before = (await countIssued(gatehouse.folder)).accessTokens;
    await expectRefused(await redeemAs(kind, flow, code, undefined), 'invalid_grant');
    await expectRefused(await redeemAs(kind, flow, code, 'a'.repeat(43)), 'invalid_grant');
    const challenge = createHash('sha256').update(flow.verifier).digest('base64url');
    await expectRefused(await redeemAs(kind, flow, code, challenge), 'invalid_grant');
    expect((await countIssued(gatehouse.folder)).accessTokens).toBe(before);
  });
});

describe('a code challenge', () => {
  const good = createHash('sha256').update('a'.repeat(43)).digest('base64url');

  it.each([
    ['method plain', { code_challenge_method: 'plain' }],
    ['no method, which would mean plain', { code_challenge_method: undefined }],
    ['method s256', { code_challenge_method: 's256' }],
    ['an empty method', { code_challenge_method: '' }],
    ['an unknown method', { code_challenge_method: 'S512' }],
    ['a method without a challenge', { code_challenge: undefined }],
    ['an empty challenge', { code_challenge: '' }],
    ['42 characters', { code_challenge: good.slice(1) }],
    ['129 characters', { code_challenge: 'a'.repeat(129) }],
    ['padding', { code_challenge: `${good.slice(1)}=` }],
    ['a character outside of the alphabet', { code_challenge: `${good.slice(1)}+` }],
    ['white space', { code_challenge: `${good.slice(1)} ` }],
  ])('with %s is invalid_request, before any page (T-007, T-006)', async (_fault, parameters) => {
    const before = await countIssued(gatehouse.folder);
    const { url } = authorization(gatehouse, clientOf('none').client_id, parameters);
    await expectErrorPage(await createVisitor().request(url), 'invalid_request');
    expect(await countIssued(gatehouse.folder)).toEqual(before);
  });

  it('that is sent twice is invalid_request (T-007)', async () => {
    const { url } = authorization(gatehouse, clientOf('none').client_id);
    await expectErrorPage(await createVisitor().request(`${url}&code_challenge=${good}`), 'invalid_request');
  });
});

describe('a code verifier', () => {
  it.each([
    ['too short', 'a'.repeat(42)],
    ['too long', 'a'.repeat(129)],
    ['with other characters', `${'a'.repeat(42)}/`],
  ])('that is %s gives no token (T-008)', async (_fault, verifier) => {
    const flow = authorization(gatehouse, clientOf('none').client_id);
    const code = (await approve(flow)).searchParams.get('code') ?? '';
    const response = await redeem(gatehouse.url, flow, code, { code_verifier: verifier });
    expect(response.status).toBe(400);
    expect(['invalid_grant', 'invalid_request']).toContain(
      ((await response.json()) as { error: string }).error,
    );
  });

  it('cannot be made up for a code, because none is issued without a challenge (T-008, T-006)', async () => {
    const { url } = authorization(gatehouse, clientOf('none').client_id, {
      code_challenge: undefined,
      code_challenge_method: undefined,
      prompt: 'none',
    });
    const response = await createVisitor().request(url);
    const callback = new URL(response.headers.get('location') ?? '');
    expect(callback.searchParams.get('error')).toBe('invalid_request');
    expect(callback.searchParams.has('code')).toBe(false);
  });
});
