import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../support/gatehouse.ts';
import { sendRaw } from '../support/raw-http.ts';

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse();
});
afterAll(() => gatehouse.stop());

describe('the health check', () => {
  it('says that it is well and nothing else (T-113)', async () => {
    const response = await fetch(`${gatehouse.url}/healthz?verbose=1`, {
      headers: { authorization: 'Bearer x' },
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ok' });
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('server')).toBeNull();
    expect(response.headers.get('x-powered-by')).toBeNull();
  });

  it('is answered to probes that name no host or another one', async () => {
    expect((await sendRaw(gatehouse.listensAt, ['GET /healthz HTTP/1.0'])).status).toBe(200);
    expect((await sendRaw(gatehouse.listensAt, ['GET /healthz HTTP/1.1', 'Host: 10.1.2.3'])).status).toBe(
      200,
    );
  });

  it('is 503 when the database cannot be read, without a word about why (T-113)', async () => {
    const other = await startGatehouse({
      storage: {
        ...gatehouse.storage,
        ping: () => Promise.reject(new Error('disk I/O error at /secret/path')),
      },
    });
    const response = await fetch(`${other.url}/healthz`);
    expect([response.status, await response.json()]).toEqual([503, { status: 'unavailable' }]);
    await other.stop();
  });
});
