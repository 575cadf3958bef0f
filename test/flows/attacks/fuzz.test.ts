import { request as httpRequest } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { modernRequest } from '../../mcp/support/gate.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { doorNames, enter, failures, openDoor } from './support/doors.ts';
import { anyBody, anyHeaders, createRandom } from './support/random.ts';

interface Shot {
  path: string;
  method: string;
  headers: Record<string, string>;
  body: Buffer;
}

const count = Number(process.env.ATTACK_FUZZ ?? 4000);
const seed = Number(process.env.ATTACK_SEED ?? Date.now() % 1_000_000);
const longestMs = Number(process.env.ATTACK_FUZZ_MS ?? 15_000);

it(`any of ${count} messages and headers, seed ${seed}, through any door: no failure of ours, nothing over a second (T-135, T-137, T-151)`, async () => {
  const gatehouse = await startGatehouse();
  onTestFinished(() => gatehouse.stop());
  const principal = await enter(gatehouse);
  const doors = await Promise.all(doorNames.map((name) => openDoor(gatehouse, name, principal)));
  const random = createRandom(seed);
  const { _meta } = (modernRequest('ping').json as { params: { _meta: object } }).params;

  const shoot = ({ path, method, headers, body }: Shot): Promise<{ status: number; ms: number }> => {
    const began = performance.now();
    return new Promise((resolve, reject) => {
      const request = httpRequest(gatehouse.listensAt, { path, method, headers, agent: false });
      const over = (status: number): void => {
        resolve({ status, ms: performance.now() - began });
        request.destroy();
      };
      request.on('error', reject);
      request.on('response', (response) => {
        const status = response.statusCode ?? 0;
        response.on('error', () => over(status)).resume();
        response.on('end', () => over(status));
        // A stream need not end: its beginning is its answer here.
        if (response.headers['content-type'] === 'text/event-stream')
          response.once('data', () => over(status));
      });
      request.end(body);
    });
  };
  const aim = (): Shot => {
    const door = random.one(doors);
    const isModern = door.name === 'mcp 2026';
    let mirrored: Record<string, string> = {};
    const wrap = (message: unknown): unknown => {
      if (!isModern || random.once(10)) return message;
      const { method, params } = message as { method?: unknown; params?: object };
      const name =
        (params as { name?: unknown; uri?: unknown } | undefined)?.name ??
        (params as { uri?: unknown } | undefined)?.uri;
      const encoded = `=?base64?${Buffer.from(JSON.stringify(name) ?? '').toString('base64')}?=`;
      mirrored = {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': encodeURI(JSON.stringify(method) ?? '').slice(0, 100),
        ...(name !== undefined && encoded.length < 4000 && { 'mcp-name': encoded }),
      };
      return { ...(message as object), params: { ...params, _meta } };
    };
    const body = anyBody(random, wrap);
    const method = random.once(15) ? random.one(['GET', 'DELETE', 'PUT', 'OPTIONS', 'HEAD']) : 'POST';
    // The session of the door is not to be ended, nor its streams taken from it.
    const path = method === 'DELETE' ? '/rest' : door.path;
    const headers = {
      ...door.headers,
      ...mirrored,
      ...anyHeaders(random),
      'content-length': String(body.length),
    };
    return { path, method, headers, body };
  };

  const began = performance.now();
  const statuses = new Map<number, number>();
  let shots = 0;
  const attack = async (): Promise<void> => {
    while (shots < count && performance.now() - began < longestMs) {
      shots++;
      const shot = aim();
      const told = `${shot.method} ${shot.path} ${JSON.stringify(shot.headers)}\n${shot.body.toString('base64').slice(0, 4000)}`;
      const { status, ms } = await shoot(shot);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status >= 500) throw new Error(`${status}: ${told}`);
      // What was slow by accident is not slow again.
      if (ms > 1000 && (await shoot(shot)).ms > 1000) throw new Error(`${Math.round(ms)} ms: ${told}`);
    }
  };
  await Promise.all(Array.from({ length: 6 }, attack));
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 202, 400]));
  expect(shots).toBeGreaterThan(Math.min(count, 300) - 1);
  expect(failures(gatehouse.log)).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  for (const name of doorNames) {
    const door = await openDoor(gatehouse, name, principal);
    expect((await door.ask('tools/list', {}, 'last')).result).toBeDefined();
    door.close();
  }
  for (const door of doors) door.close();
}, 120_000);
