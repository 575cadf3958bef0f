import { describe, expect, it } from 'vitest';
import { countedAddress, createAddressFinder, noteClientAddress } from '../../src/app/client-address.ts';
import { serveSteps } from '../support/koa-step.ts';

describe('an address', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    [' 203.0.113.7 ', '203.0.113.7'],
    ['203.0.113.7:51234', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:443', '203.0.113.7'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]:443', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('written %s counts as %s (T-061)', (written, counted) => {
    expect(countedAddress(written)).toBe(counted);
  });

  it.each([
    '',
    'unknown',
    '_hidden',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '2001:db8',
    ':::',
    '1.2.3.4:x',
    "'; --",
  ])('is not what is written %j (T-109)', (written) => {
    expect(countedAddress(written)).toBeUndefined();
  });
});

describe('the addresses of requests over one connection', () => {
  const show = (trusted: readonly string[]) =>
    serveSteps([
      noteClientAddress(createAddressFinder(trusted)),
      (ctx) => {
        ctx.body = ctx.state.clientAddress;
      },
    ]);
  const ask = async (url: string, forwarded?: string) =>
    (await fetch(url, { headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } })).text();

  it('are those a listed proxy names, each its own (T-109)', async () => {
    const url = await show(['loopback']);
    for (const client of ['203.0.113.7', '203.0.113.8', undefined, 'nonsense'])
      expect(await ask(url, client)).toBe(client?.startsWith('203') ? client : '127.0.0.1');
  });

  it('are those of the peer where no proxy is listed (T-109)', async () => {
    const url = await show([]);
    for (const client of ['203.0.113.7', undefined]) expect(await ask(url, client)).toBe('127.0.0.1');
  });
});
