import { describe, expect, it, test, vi } from 'vitest';
import { createPersonValue, GivenValues, isPerson } from '../../../src/gateway/credentials/person-value.ts';
import { missingInputOf, withPatience } from '../../../src/mcp/upstreams/upstream.ts';
import type { AuthInfo } from '../../../src/oauth/auth-info.ts';

const issuer = 'https://gate.example';
const caller = (subject: string, clientId = 'client', of = issuer): AuthInfo => ({
  issuer: of,
  subject,
  clientId,
  scopes: [],
  audience: `${issuer}/notion/mcp`,
  expiresAt: 2_000_000_000,
});

function start(entered: Record<string, string>, as = { header: 'x-key' }) {
  const tells = new Set<(accountId: string) => void>();
  const error = vi.fn();
  const source = createPersonValue({
    issuer,
    route: 'notion',
    name: 'apiKey',
    as,
    backend: 'Notion',
    label: 'Notion key',
    urlFor: (accountId) => `${issuer}/account/credentials/notion/mark-of-${accountId}`,
    entered: {
      async read(accountId, route, name) {
        if (accountId === 'broken') throw new Error('sealed under another key');
        return entered[[accountId, route, name].join(' ')];
      },
      onChange(route, tell) {
        expect(route).toBe('notion');
        tells.add(tell);
        return () => void tells.delete(tell);
      },
    },
    logger: { error },
  });
  return { source, error, change: (accountId: string) => tells.forEach((tell) => void tell(accountId)) };
}

describe('a credential that each person enters', () => {
  it('is given to who entered it, for this route and name (T-158)', async () => {
    const { source } = start({ 'ada notion apiKey': 'key-of-ada', 'grace other apiKey': 'no' });
    expect(await source.find(caller('ada'))).toEqual({ value: 'key-of-ada' });
    expect(await source.find(caller('grace'))).toHaveProperty('error');
  });

  it('is missing by name, with the page where it is entered; the person is asked there (C7-04)', async () => {
    const entered: Record<string, string> = {};
    const found = await start(entered).source.find(caller('ada'));
    const url = `${issuer}/account/credentials/notion/mark-of-ada`;
    if (!('error' in found)) throw new Error('there is one');
    expect(found.error).toEqual({
      code: -32603,
      message: `The MCP server Notion cannot be used yet. It needs your Notion key. Enter it on your account page. Open ${url} in a browser, and send this request again afterwards.`,
      data: { reason: 'credential_missing', url },
    });
    const missing = missingInputOf(found.error);
    expect(missing).toMatchObject({
      name: 'credential-notion',
      url,
      message: expect.stringContaining('Notion key'),
    });
    expect(await missing?.isGiven()).toBe(false);
    entered['ada notion apiKey'] = 'key';
    expect(await missing?.isGiven()).toBe(true);
  });

  it('is no account’s of another issuer, and no client’s that acts for itself', async () => {
    const { source } = start({ 'ada notion apiKey': 'key', 'robot notion apiKey': 'key' });
    for (const nobody of [caller('ada', 'client', 'https://other.example'), caller('robot', 'robot')]) {
      expect(isPerson(nobody, issuer)).toBe(false);
      expect(await source.find(nobody)).toMatchObject({
        error: { data: { reason: 'credential_no_person' } },
      });
    }
    expect(isPerson(caller('ada'), issuer)).toBe(true);
  });

  it('is as none where it does not fit the place it has now', async () => {
    const { source } = start({ 'ada notion apiKey': 'a\r\nx-admin: 1' });
    expect(await source.find(caller('ada'))).toMatchObject({
      error: { data: { reason: 'credential_missing' } },
    });
  });

  it('that cannot be read is unavailable; why stands in the log and not in the error (T-196)', async () => {
    const { source, error } = start({});
    const found = await source.find(caller('broken'));
    expect(found).toMatchObject({ error: { data: { reason: 'credential_unavailable' } } });
    expect(JSON.stringify(found)).not.toContain('sealed');
    expect(error).toHaveBeenCalledOnce();
  });

  it('is waited for where its person is entering it just now', async () => {
    const entered: Record<string, string> = {};
    const { source } = start(entered);
    setTimeout(() => {
      entered['ada notion apiKey'] = 'late key';
    }, 100);
    expect(await source.find(withPatience(caller('ada'), 5_000))).toEqual({ value: 'late key' });
  });

  it('tells whose has changed that was given before, and of no other', async () => {
    const entered: Record<string, string> = { 'ada notion apiKey': 'first' };
    const { source, change } = start(entered);
    const [tell, other] = [vi.fn(), vi.fn()];
    const stop = source.onChange(tell);
    source.onChange(other);
    const changed = async (accountId: string): Promise<void> => {
      change(accountId);
      await new Promise(setImmediate);
    };
    await changed('ada');
    await source.find(caller('ada'));
    await changed('ada');
    await changed('grace');
    expect(tell).not.toHaveBeenCalled();
    entered['ada notion apiKey'] = 'second';
    await changed('ada');
    // A backend and a cache listen to the same credential.
    for (const each of [tell, other]) expect(each.mock.calls).toEqual([[{ issuer, subject: 'ada' }]]);
    await source.find(caller('ada'));
    stop();
    delete entered['ada notion apiKey'];
    await changed('ada');
    expect(tell).toHaveBeenCalledOnce();
  });

  it('that the backend does not accept is asked for anew; another one is waited for where its person is entering it (C7-04)', async () => {
    const entered: Record<string, string> = { 'ada notion apiKey': 'old' };
    const { source } = start(entered);
    const found = await source.refused(caller('ada'), 0);
    if (found === 'renewed') throw new Error('it is as it was');
    expect(found.error).toMatchObject({
      message: expect.stringMatching(/does not accept your Notion key\. Enter another .* Open https:/),
      data: { reason: 'credential_refused', url: expect.stringContaining('/account/credentials/notion/') },
    });
    const missing = missingInputOf(found.error);
    expect(missing?.message).toContain('does not accept your Notion key');
    expect(await missing?.isGiven()).toBe(false);
    const waiting = source.refused(withPatience(caller('ada'), 5_000), 0);
    setTimeout(() => {
      entered['ada notion apiKey'] = 'new';
    }, 50);
    expect(await waiting).toBe('renewed');
    expect(await missing?.isGiven()).toBe(true);
    expect(JSON.stringify(found.error)).not.toContain('old');
  });
});

describe('entered values', () => {
  test('what was given and holds no more is told once; what nobody was given, and what still holds, never', () => {
    const given = new GivenValues();
    expect(given.hasOutdated('ada', 'first')).toBe(false);
    given.note('ada', 'first');
    expect(given.hasOutdated('ada', 'first')).toBe(false);
    expect(given.hasOutdated('grace', undefined)).toBe(false);
    expect(given.hasOutdated('ada', undefined)).toBe(true);
    expect(given.hasOutdated('ada', undefined)).toBe(false);
    given.note('ada', 'first');
    given.note('ada', 'second');
    expect(given.hasOutdated('ada', 'second')).toBe(true);
    expect(JSON.stringify([...Object.values(given)])).not.toContain('second');
  });

  test('of accounts beyond those that are remembered, it is told to be safe', () => {
    const given = new GivenValues(1);
    given.note('ada', 'first');
    given.note('grace', 'first');
    expect(given.hasOutdated('ada', 'first')).toBe(true);
    expect(given.hasOutdated('grace', 'first')).toBe(false);
  });
});
