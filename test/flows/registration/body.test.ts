import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';
import { patience } from '../../support/patience.ts';
import { sendRaw } from '../../support/raw-http.ts';

// Over src/authorization-server/endpoints/form-body.ts and src/authorization-server/registration/registration-endpoint.ts.

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  await post('{}');
});
afterAll(() => gatehouse.stop());

const uris = '"redirect_uris":["http://127.0.0.1:53682/callback"]';

function post(body: string | Uint8Array, type = 'application/json'): Promise<Response> {
  return fetch(`${gatehouse.url}/register`, {
    method: 'POST',
    headers: type === '' ? {} : { 'content-type': type },
    body: new Uint8Array(Buffer.from(body)),
  });
}

async function expectRefused(attempt: () => Promise<Response>, status: number, error: string): Promise<void> {
  const before = (await countIssued(gatehouse.folder)).clients;
  const began = performance.now();
  const response = await attempt();
  const took = performance.now() - began;
  expect([response.status, await response.json()]).toMatchObject([status, { error }]);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(took).toBeLessThan(patience(500));
  expect((await countIssued(gatehouse.folder)).clients).toBe(before);
}

describe('the body of a registration', () => {
  it('may have 56 KB (T-062)', async () => {
    const frame = `{${uris},"filler":""}`;
    const body = frame.replace('""', `"${'x'.repeat(56 * 1024 - frame.length)}"`);
    expect(body.length).toBe(56 * 1024);
    expect((await post(body)).status).toBe(201);
    await expectRefused(() => post(`${body} `), 413, 'invalid_request');
  });

  it('of 1 MB is 413 (T-062)', async () => {
    await expectRefused(
      () => post(`{${uris},"filler":"${'x'.repeat(1024 * 1024)}"}`),
      413,
      'invalid_request',
    );
  });

  it('without a length, in chunks, is held to the limit as well (T-062)', async () => {
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new Uint8Array(16 * 1024).fill(32));
      },
    });
    const refused = fetch(`${gatehouse.url}/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: endless,
      duplex: 'half',
    } as RequestInit & { duplex: 'half' }).then(
      ({ status }) => status,
      () => 'cut off',
    );
    expect([413, 'cut off']).toContain(await refused);
    expect((await fetch(`${gatehouse.url}/healthz`)).status).toBe(200);
  });

  it.each([
    ['in an unknown member', (nested: string) => `{${uris},"x":${nested}}`],
    ['in a known member', (nested: string) => `{${uris},"contacts":${nested}}`],
    ['in the redirect URIs', (nested: string) => `{"redirect_uris":${nested}}`],
  ])('nested 10,000 levels deep %s is 400 (T-062)', async (_where, body) => {
    const arrays = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    const objects = `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`;
    for (const nested of [arrays, objects])
      await expectRefused(() => post(body(nested)), 400, 'invalid_client_metadata');
  });

  it.each(['[]', 'null', '"text"', '1', 'true', '', '{', `{${uris}`, `{${uris},}`, '\uFEFF'])(
    'that is no JSON object is 400: %j (T-062)',
    async (body) => {
      await expectRefused(() => post(body), 400, 'invalid_client_metadata');
    },
  );

  it('that is not UTF-8 is 400 (T-062)', async () => {
    await expectRefused(() => post(new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])), 400, 'invalid_client_metadata');
  });

  it.each([
    'application/x-www-form-urlencoded',
    'text/plain',
    'text/json',
    'multipart/form-data',
    'application/jsonp',
    '',
  ])('of the type %j is 415 (T-062)', async (type) => {
    await expectRefused(() => post(`{${uris}}`, type), 415, 'invalid_request');
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON'])(
    'of the type %j is read (T-062)',
    async (type) => {
      expect((await post(`{${uris}}`, type)).status).toBe(201);
    },
  );

  it('with a member twice counts the last, and is checked as it counts (T-062)', async () => {
    await expectRefused(
      () => post(`{${uris},"redirect_uris":["javascript:alert(1)"]}`),
      400,
      'invalid_redirect_uri',
    );
  });

  it('that is cut off in the middle is refused, and nothing is registered (T-062)', async () => {
    const before = (await countIssued(gatehouse.folder)).clients;
    const body = `{${uris}}`;
    const answer = await sendRaw(
      gatehouse.listensAt,
      [
        'POST /register HTTP/1.1',
        'Host: localhost',
        'Content-Type: application/json',
        `Content-Length: ${body.length - 5}`,
      ],
      body,
    );
    expect(answer.status).toBe(400);
    expect((await countIssued(gatehouse.folder)).clients).toBe(before);
  });
});

describe('the registration endpoint', () => {
  it('takes POST alone (A5-02)', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const response = await fetch(`${gatehouse.url}/register`, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    }
  });
});
