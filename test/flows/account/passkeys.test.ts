// What the pages do with passkeys that are none; with real ones in test/browser/passkeys.test.ts:
// src/authorization-server/account/passkeys-page.ts
// src/authorization-server/authentication/passkeys.ts
// src/authorization-server/views/account/passkeys.ts
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { authorization, register } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';
import { idsIn, openAccount, submitWithId } from './support/account.ts';

let gatehouse: RunningGatehouse;
beforeAll(async () => {
  gatehouse = await startGatehouse();
});
afterAll(() => gatehouse.stop());

async function keep(id: string, email = ada.email): Promise<void> {
  const account = await gatehouse.storage.accounts.findByEmail(email);
  const passkey = { id, accountId: account?.id ?? '', name: '<b>Key</b>', publicKey: Buffer.from('key') };
  await gatehouse.storage.passkeys.add(
    { ...passkey, counter: 0, isSynced: true, transports: [], createdAt: 1_800_000_000 },
    5,
  );
}

describe('passkeys', () => {
  it('are offered on no login page, and no script is allowed there, while nobody has one (T-017)', async () => {
    const { client_id } = await register(gatehouse.url);
    for (const url of [`${gatehouse.url}/account/login`, authorization(gatehouse, client_id).url]) {
      const { html, response } = await createVisitor().open(url);
      expect(html).not.toContain('data-passkey');
      expect(response.headers.get('content-security-policy')).toContain("script-src 'none'");
    }
  });

  it.each([
    '',
    'nonsense',
    '[]',
    'null',
    '{}',
    '{"id":"a","rawId":"a","type":"public-key","response":{}}',
    `{"id":"${'x'.repeat(9000)}"}`,
  ])('are not registered from %.20j, and the page says so', async (credential) => {
    const page = await openAccount(gatehouse, { page: '/passkeys' });
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
    const answer = await page.visitor.open(`${gatehouse.url}/account/passkeys`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ csrf, name: 'n', credential }).toString(),
    });
    expect(answer.response.status).toBe(400);
    expect(answer.html).toContain('The passkey could not be used.');
    expect(await gatehouse.storage.passkeys.isAnyStored()).toBe(false);
  });

  it('of others cannot be seen or removed; one’s own can, and names are inert', async () => {
    const person = { email: 'grace@example.com', password: 'another password' };
    await gatehouse.administration.accounts.add(person.email, person.password);
    await keep('adas-key');
    const page = await openAccount(gatehouse, { person, page: '/passkeys' });
    expect(page.html).toContain('You have no passkey.');
    expect((await submitWithId(page.visitor, page, '/passkeys/remove', 'adas-key')).response.status).toBe(
      404,
    );
    const own = await openAccount(gatehouse, { page: '/passkeys' });
    expect(own.html).toContain('&lt;b&gt;Key&lt;/b&gt;');
    expect(own.html).toContain('stored on several devices');
    const asking = /href="([^"]*\/passkeys\/remove[^"]*)"/.exec(own.html)?.[1] ?? '';
    expect((await page.visitor.open(new URL(asking, gatehouse.url).href)).response.status).toBe(404);
    const question = await own.visitor.open(new URL(asking, gatehouse.url).href);
    expect(question.html).toContain('Remove &lt;b&gt;Key&lt;/b&gt;?');
    expect(idsIn(question.html, '/account/passkeys/remove')).toEqual(['adas-key']);
    expect(await gatehouse.storage.passkeys.isAnyStored()).toBe(true);
    const after = await submitWithId(own.visitor, question, '/passkeys/remove', 'adas-key');
    expect(after.html).toContain('You have no passkey.');
    expect((await own.visitor.open(new URL(asking, gatehouse.url).href)).response.status).toBe(404);
  });

  it('are renamed by their person alone, and it stands in the audit log; names are inert, no longer than kept ones, and never empty', async () => {
    const person = { email: 'lin@example.com', password: 'another password' };
    const { id: accountId } = await gatehouse.administration.accounts.add(person.email, person.password);
    await keep('lins-key', person.email);
    const own = await openAccount(gatehouse, { person, page: '/passkeys' });
    const asking =
      /href="([^"]*\/passkeys\/rename[^"]*)">Rename &lt;b&gt;Key&lt;\/b&gt;</.exec(own.html)?.[1] ?? '';
    const form = await own.visitor.open(new URL(asking, gatehouse.url).href);
    expect(form.html).toContain('value="&lt;b&gt;Key&lt;/b&gt;"');
    const rename = (name: string) => own.visitor.submit(form, '/passkeys/rename', [['name', name]]);
    const nameNow = async () => (await gatehouse.storage.passkeys.find('lins-key'))?.name;

    const renamed = await rename('  The "blue" key  ');
    expect(renamed.html).toContain('<bdi>The &quot;blue&quot; key</bdi>');
    expect(await nameNow()).toBe('The "blue" key');
    await rename(' ');
    expect(await nameNow()).toBe('The "blue" key');
    await rename('x'.repeat(61));
    expect(await nameNow()).toBe('x'.repeat(60));
    const events = (await gatehouse.storage.audit.read({ limit: 9, newestFirst: true })).filter(
      ({ event }) => event === 'account.passkey_renamed',
    );
    expect(events).toHaveLength(2);
    expect(JSON.parse(events[0]?.details ?? '')).toMatchObject({ accountId });
    expect(JSON.stringify(events)).not.toContain('xxx');

    const stranger = await openAccount(gatehouse, { page: '/passkeys' });
    expect((await stranger.visitor.open(form.url)).response.status).toBe(404);
    const csrf = /name="csrf" value="([^"]*)"/.exec(stranger.html)?.[1] ?? '';
    const forged = await stranger.visitor.open(`${gatehouse.url}/account/passkeys/rename`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ csrf, id: 'lins-key', name: 'mine' }).toString(),
    });
    expect(forged.response.status).toBe(404);
    expect(await nameNow()).toBe('x'.repeat(60));
  });

  it('that are not right log nobody in, and are counted for their address (T-117)', async () => {
    const tight = await startGatehouse({ limits: { loginsPerAddress: { times: 3, windowSeconds: 60 } } });
    try {
      const account = await tight.storage.accounts.findByEmail(ada.email);
      const passkey = { id: 'known', accountId: account?.id ?? '', name: 'n', publicKey: Buffer.from('key') };
      await tight.storage.passkeys.add(
        { ...passkey, counter: 0, isSynced: false, transports: [], createdAt: 1 },
        5,
      );
      const visitor = createVisitor();
      const statuses: number[] = [];
      let said = '';
      for (let at = 0; at < 5; at++) {
        const page = await visitor.open(`${tight.url}/account/login`);
        const csrf = /name="csrf" value="([^"]*)"/.exec(page.html)?.[1] ?? '';
        const credential = JSON.stringify({
          id: 'known',
          rawId: 'known',
          type: 'public-key',
          response: { clientDataJSON: 'e30', authenticatorData: 'e30', signature: 'e30' },
          clientExtensionResults: {},
        });
        const answer = await visitor.open(`${tight.url}/account/passkey`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ csrf, credential }).toString(),
        });
        statuses.push(answer.response.status);
        said = answer.html;
      }
      expect(statuses).toEqual([401, 401, 401, 429, 429]);
      // Another browser at this address would be told the same.
      expect(said).toMatch(/Too many attempts. Please wait [^.]* and try again.</);
    } finally {
      await tight.stop();
    }
  });
});
