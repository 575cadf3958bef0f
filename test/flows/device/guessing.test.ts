// Flows of src/authorization-server/device/device-pages.ts.
import { describe, expect, it, onTestFinished } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { createVisitor, type Visitor } from '../../support/visitor.ts';
import { approveDevice, askForCode, enterCode, poll, registerDevice } from './subject.ts';

async function start(options: Parameters<typeof startGatehouse>[0] = {}): Promise<RunningGatehouse> {
  const gatehouse = await startGatehouse(options);
  onTestFinished(() => gatehouse.stop());
  return gatehouse;
}

/** Posts a code out of an open page; the address is what a trusted proxy says. */
async function guess(visitor: Visitor, page: { html: string; url: string }, code: string, address: string) {
  const xsrf = /name="xsrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
  const response = await visitor.request(page.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
      'x-forwarded-for': address,
    },
    body: new URLSearchParams({ user_code: code, xsrf }).toString(),
  });
  return { response, url: page.url, html: await response.text() };
}

describe('guessing user codes', () => {
  it('ends after twenty tries of an address, in parallel and in fresh browsers too; elsewhere people go on (T-029)', async () => {
    const gatehouse = await start({ trustedProxies: ['loopback'] });
    const waiting = await askForCode(gatehouse, await registerDevice(gatehouse.url));
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, at) => {
        const visitor = createVisitor();
        const code = `BBBB-BB${'BCDFGHJKLM'[at % 10]}${'BCDF'[at % 4]}`;
        return guess(visitor, await visitor.open(waiting.url), code, '203.0.113.7');
      }),
    );
    expect(answers.filter(({ response }) => response.status === 400)).toHaveLength(20);
    const refused = answers.filter(({ response }) => response.status === 429);
    expect(refused).toHaveLength(20);
    expect(Number(refused[0]?.response.headers.get('retry-after'))).toBeGreaterThan(800);
    expect(refused[0]?.html).toContain('Too many wrong codes');
    const visitor = createVisitor();
    const right = await guess(visitor, await visitor.open(waiting.url), waiting.userCode, '203.0.113.7');
    expect(right.response.status).toBe(429);
    const elsewhere = createVisitor();
    const taken = await guess(elsewhere, await elsewhere.open(waiting.url), waiting.userCode, '203.0.113.8');
    expect(taken.html).toContain('Is this your device?');
    expect(gatehouse.log.some((line) => line.includes('"audit":"device.throttled"'))).toBe(true);
  });

  it('ends after twenty tries of a browser, whatever its addresses (T-029)', async () => {
    const gatehouse = await start({ trustedProxies: ['loopback'] });
    const waiting = await askForCode(gatehouse, await registerDevice(gatehouse.url));
    const visitor = createVisitor();
    let page: { html: string; url: string } = await visitor.open(waiting.url);
    const statuses: number[] = [];
    for (let at = 0; at < 22; at++) {
      const answer = await guess(
        visitor,
        page,
        `BBBB-BBB${'BCDFGHJKLMNPQRSTVWXZ'[at % 20]}`,
        `198.51.100.${at}`,
      );
      statuses.push(answer.response.status);
      if (answer.response.status === 400) page = answer;
    }
    expect(statuses).toEqual([...Array<number>(20).fill(400), 429, 429]);
  });

  it('does not count the right codes of people behind one address', async () => {
    const gatehouse = await start({ limits: { deviceCodes: { times: 2, windowSeconds: 900 } } });
    const client = await registerDevice(gatehouse.url);
    for (let at = 0; at < 4; at++) {
      const waiting = await askForCode(gatehouse, client);
      await approveDevice(waiting);
      expect((await poll(gatehouse.url, waiting)).status).toBe(200);
    }
  });
});

describe('the device flow switched off', () => {
  it('is not there and not announced, and clients that know it log in otherwise', async () => {
    const gatehouse = await start({ login: { deviceFlow: false } });
    const metadata = (await (
      await fetch(`${gatehouse.url}/.well-known/oauth-authorization-server`)
    ).json()) as Record<string, unknown>;
    expect(metadata).not.toHaveProperty('device_authorization_endpoint');
    expect(metadata.grant_types_supported).not.toContain('urn:ietf:params:oauth:grant-type:device_code');
    const client = await registerDevice(gatehouse.url);
    await expect(askForCode(gatehouse, client)).rejects.toThrow('404');
    for (const path of ['/device', '/device/done', `/device/${'x'.repeat(43)}`])
      expect((await createVisitor().open(`${gatehouse.url}${path}`)).response.status).toBe(404);
    const page = await enterCode({ url: `${gatehouse.url}/device`, userCode: 'x' }, createVisitor()).catch(
      () => undefined,
    );
    expect(page).toBeUndefined();
  });
});
