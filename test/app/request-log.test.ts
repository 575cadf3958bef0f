import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../support/gatehouse.ts';
import { sendRaw } from '../support/raw-http.ts';

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse();
});
afterAll(() => gatehouse.stop());

async function lineOf(requestId: string): Promise<Record<string, unknown>> {
  for (let tries = 0; tries < 50; tries++) {
    const line = gatehouse.log.find((entry) => entry.includes(requestId) && entry.includes('"path"'));
    if (line) return JSON.parse(line) as Record<string, unknown>;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`no line for ${requestId}`);
}

describe('each request', () => {
  it('has an id of its own, which the client cannot choose', async () => {
    const ids = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const response = await fetch(`${gatehouse.url}/healthz`, { headers: { 'x-request-id': 'chosen' } });
        return response.headers.get('x-request-id') ?? '';
      }),
    );
    expect(new Set(ids).size).toBe(5);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  it('is one line in the log: method, path, status, address; no query, no header', async () => {
    const response = await fetch(`${gatehouse.url}/nowhere?code=a-secret-code`, {
      headers: { authorization: 'Bearer a-secret-token', cookie: 'a=a-secret-cookie' },
    });
    const line = await lineOf(response.headers.get('x-request-id') ?? '');
    expect(line).toMatchObject({
      method: 'GET',
      path: '/nowhere',
      status: 404,
      address: '127.0.0.1',
      finished: true,
    });
    expect(gatehouse.log.join('')).not.toMatch(/a-secret-(?:code|token|cookie)/);
  });

  it('that its client gave up before it was answered has status 499, as nothing was sent', async () => {
    const { port } = new URL(gatehouse.listensAt);
    const head = `POST /token HTTP/1.1\r\nHost: ${new URL(gatehouse.url).host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n`;
    const before = gatehouse.log.length;
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`${head}x`);
    await sleep(100);
    socket.destroy();
    await expect
      .poll(() => gatehouse.log.slice(before).map((line) => JSON.parse(line)))
      .toContainEqual(expect.objectContaining({ path: '/token', status: 499, finished: false }));
  });

  it('with a hostile path is one line as well (T-195)', async () => {
    const before = gatehouse.log.length;
    const answer = await sendRaw(gatehouse.listensAt, [
      `GET /%0d%0a%1b[31m{"level":50}${'x'.repeat(3000)} HTTP/1.1`,
      `Host: ${new URL(gatehouse.url).host}`,
    ]);
    expect(answer.status).toBe(404);
    await lineOf(answer.headers.get('x-request-id') ?? '');
    for (const line of gatehouse.log.slice(before)) {
      expect(line.trimEnd().split('\n')).toHaveLength(1);
      expect(line).not.toContain('\u001b');
      expect(line.length).toBeLessThan(2000);
    }
  });
});
