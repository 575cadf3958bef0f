import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { GatehouseOptions } from '../../../src/index.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { countIssued } from '../../support/issued.ts';

// Over src/authorization-server/limits.ts, src/authorization-server/endpoints/form-body.ts and src/app/client-address.ts.

const running: RunningGatehouse[] = [];
afterEach(async () => {
  for (const gatehouse of running.splice(0)) await gatehouse.stop();
});

async function start(options: Partial<GatehouseOptions>): Promise<RunningGatehouse> {
  const gatehouse = await startGatehouse({
    ...options,
    limits: { registrations: { times: 3, windowSeconds: 60 } },
  });
  running.push(gatehouse);
  return gatehouse;
}

async function tryRegister(gatehouse: RunningGatehouse, from?: string, valid = true): Promise<Response> {
  const response = await fetch(`${gatehouse.listensAt}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(from ? { 'x-forwarded-for': from } : undefined) },
    body: JSON.stringify({ redirect_uris: [valid ? 'http://127.0.0.1/cb' : 'javascript:1'] }),
  });
  await response.arrayBuffer();
  return response;
}

async function statuses(gatehouse: RunningGatehouse, addresses: (string | undefined)[]): Promise<number[]> {
  const found = [];
  for (const address of addresses) found.push((await tryRegister(gatehouse, address)).status);
  return found;
}

describe('registrations from one address', () => {
  it('are 429 beyond the limit, with the time to wait, and nothing is stored (T-061)', async () => {
    const gatehouse = await start({});
    expect(await statuses(gatehouse, [undefined, undefined, undefined])).toEqual([201, 201, 201]);
    for (let more = 0; more < 20; more++) {
      const response = await tryRegister(gatehouse);
      expect(response.status).toBe(429);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('access-control-expose-headers')).toContain('Retry-After');
    }
    expect((await countIssued(gatehouse.folder)).clients).toBe(3);
  });

  it('count when they come at once, and when they are refused (T-061)', async () => {
    const gatehouse = await start({});
    const first = await tryRegister(gatehouse, undefined, false);
    expect(first.status).toBe(400);
    const answers = await Promise.all(Array.from({ length: 30 }, () => tryRegister(gatehouse)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(28);
  });

  /** Begins a registration that announces more of its body than it sends; resolves once the server has it. */
  async function beginRegistration(gatehouse: RunningGatehouse): Promise<Socket> {
    const { hostname, port } = new URL(gatehouse.listensAt);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    const head = ['POST /register HTTP/1.1', 'Host: localhost', 'Content-Type: application/json'];
    socket.write(
      `${[...head, 'Content-Length: 100', 'Expect: 100-continue'].join('\r\n')}\r\n\r\n{"redirect_uris`,
    );
    await once(socket, 'data');
    return socket;
  }

  it('do not count while their bodies are unfinished, nor after those end (FA-12, T-207)', async () => {
    const gatehouse = await start({});
    const open = await Promise.all(Array.from({ length: 500 }, () => beginRegistration(gatehouse)));
    expect((await tryRegister(gatehouse)).status).toBe(201);
    for (const socket of open) socket.destroy();
    expect(await statuses(gatehouse, [undefined, undefined, undefined])).toEqual([201, 201, 429]);
  });

  it('lose the oldest unfinished body of an address for each further one beyond a hundred (FA-12, T-207)', async () => {
    const gatehouse = await start({});
    const open = await Promise.all(Array.from({ length: 100 }, () => beginRegistration(gatehouse)));
    await vi.waitFor(
      async () => {
        await beginRegistration(gatehouse);
        expect(open.some(({ closed }) => closed)).toBe(true);
      },
      { timeout: 20_000, interval: 200 },
    );
    expect((await tryRegister(gatehouse)).status).toBe(201);
  });

  it.each([
    ['of another media type', { 'content-type': 'text/plain' }, '{}', 415],
    ['compressed', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 'x', 415],
    ['too large', { 'content-type': 'application/json' }, '{}'.padEnd(57_345), 413],
    ['no JSON', { 'content-type': 'application/json' }, '{"redirect_uris', 400],
  ])('do not count if their body is %s (FA-12, T-207)', async (_what, headers, body, status) => {
    const gatehouse = await start({});
    for (let attempt = 0; attempt < 10; attempt++) {
      const response = await fetch(`${gatehouse.listensAt}/register`, { method: 'POST', headers, body });
      expect(response.status).toBe(status);
    }
    expect(await statuses(gatehouse, [undefined, undefined, undefined, undefined])).toEqual([
      201, 201, 201, 429,
    ]);
  });

  it('count by the connection where no proxy is trusted: a header gives no other address (T-061, T-109)', async () => {
    const gatehouse = await start({});
    const claimed = ['203.0.113.1', '203.0.113.2', '203.0.113.3', '203.0.113.4', '203.0.113.5'];
    expect(await statuses(gatehouse, claimed)).toEqual([201, 201, 201, 429, 429]);
    expect(gatehouse.log.join('')).not.toContain('203.0.113');
  });
});

describe('behind a trusted proxy', () => {
  it('the address is the one the nearest trusted proxy saw; what the client wrote before it does not count (T-109)', async () => {
    const gatehouse = await start({ trustedProxies: ['loopback'] });
    const spoofed = [
      '9.9.9.1, 203.0.113.7',
      '9.9.9.2, 203.0.113.7',
      '9.9.9.3,203.0.113.7',
      '203.0.113.7',
      'x, 203.0.113.7',
    ];
    expect(await statuses(gatehouse, spoofed)).toEqual([201, 201, 201, 429, 429]);
    expect(await statuses(gatehouse, ['203.0.113.8', '203.0.113.7, 203.0.113.8'])).toEqual([201, 201]);
  });

  it('the audit log has that address, and the spoofed one nowhere (T-109)', async () => {
    const gatehouse = await start({ trustedProxies: ['loopback'] });
    await tryRegister(gatehouse, '6.6.6.6, 203.0.113.9');
    const audit = gatehouse.log.filter((line) => line.includes('client.registered'));
    expect(audit).toHaveLength(1);
    expect(JSON.parse(audit[0] ?? '{}')).toMatchObject({ address: '203.0.113.9' });
    expect(gatehouse.log.join('')).not.toContain('6.6.6.6');
  });

  it('an IPv6 address counts by its /64, however it is written (T-061)', async () => {
    const gatehouse = await start({ trustedProxies: ['loopback'] });
    const rotated = [
      '2001:db8:1:2::1',
      '2001:db8:1:2:aaaa:bbbb:cccc:dddd',
      '2001:0DB8:0001:0002:0:0:0:3',
      '2001:db8:1:2::ffff',
      '2001:db8:1:2:0:0:1.2.3.4',
    ];
    expect(await statuses(gatehouse, rotated)).toEqual([201, 201, 201, 429, 429]);
    expect(await statuses(gatehouse, ['2001:db8:1:3::1'])).toEqual([201]);
  });

  it('an IPv4 address counts the same when it is written as IPv6 (T-061)', async () => {
    const gatehouse = await start({ trustedProxies: ['loopback'] });
    const written = ['203.0.113.5', '::ffff:203.0.113.5', '::FFFF:203.0.113.5', '::ffff:cb00:7105'];
    expect(await statuses(gatehouse, written)).toEqual([201, 201, 201, 429]);
  });

  it.each(['', ',', 'nonsense', 'unknown, 1', "'; DROP TABLE clients", '1.2.3.4:5678', 'x'.repeat(8000)])(
    'a header that names no address is no fault: %j (T-109)',
    async (value) => {
      const gatehouse = await start({ trustedProxies: ['loopback'] });
      expect((await tryRegister(gatehouse, value)).status).toBe(201);
    },
  );
});
