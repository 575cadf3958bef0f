import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../src/client/index.ts';
import {
  dropCredential,
  dropRegistration,
  emptyStoreData,
  endCredential,
  findFormerIn,
  findIn,
  findRegistrationIn,
  putCredential,
  putRegistration,
} from '../../../src/client/stores/store-data.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';

describe('the book of credentials', () => {
  it('keeps one credential for each issuer and resource (A3-09, T-184)', () => {
    const book = emptyStoreData();
    const first = testCredential({ issuer: 'https://one' });
    const second = testCredential({ issuer: 'https://two' });
    putCredential(book, 'https://mcp/a', first);
    putCredential(book, 'https://mcp/b', second);
    expect(Object.values(book.credentials)).toEqual([first, second]);
    expect([findIn(book, 'https://mcp/a'), findIn(book, 'https://mcp/b')]).toEqual([first, second]);
  });

  it('keeps no credential of the issuer before, once no server is logged in to with it (A5-10)', () => {
    const book = emptyStoreData();
    const first = testCredential({ issuer: 'https://one' });
    const second = testCredential({ issuer: 'https://two' });
    for (const server of ['https://mcp/a', 'https://mcp/b']) putCredential(book, server, first);
    putCredential(book, 'https://mcp/a', second);
    expect(Object.values(book.credentials)).toEqual([first, second]);
    putCredential(book, 'https://mcp/b', second);
    expect(Object.values(book.credentials)).toEqual([second]);
  });

  it('gives nothing to a server nobody logged in to, even one on the same origin (A7-05)', () => {
    const book = emptyStoreData();
    putCredential(book, 'https://mcp/a', testCredential({ resource: 'https://mcp' }));
    expect(findIn(book, 'https://mcp/b')).toBeUndefined();
    expect(findIn(book, '__proto__')).toBeUndefined();
  });

  it('takes a renewed credential, unless another login has come meanwhile (CL-1)', () => {
    const book = emptyStoreData();
    const old = testCredential({ accessToken: 'old' });
    putCredential(book, 'https://mcp', old);
    putCredential(book, 'https://mcp', { ...old, accessToken: 'renewed' }, old);
    expect(findIn(book, 'https://mcp')?.accessToken).toBe('renewed');
    putCredential(book, 'https://mcp', { ...old, accessToken: 'late' }, old);
    expect(findIn(book, 'https://mcp')?.accessToken).toBe('renewed');
  });

  it('does not drop a credential that is newer than the one named (T-188)', () => {
    const book = emptyStoreData();
    const old = testCredential({ accessToken: 'old' });
    putCredential(book, 'https://mcp', { ...old, accessToken: 'new' });
    dropCredential(book, old);
    expect(findIn(book, 'https://mcp')?.accessToken).toBe('new');
    dropCredential(book, { ...old, accessToken: 'new' });
    expect(book).toEqual(emptyStoreData());
  });

  it('knows what a login was like that its issuer has ended, until the next one or none is wanted', () => {
    const book = emptyStoreData();
    const held = testCredential({ dpopKey: { kty: 'EC', d: 'very-secret' } });
    const known = { issuer: 'https://as.example', chosen: { dpop: true } };
    for (const server of ['https://mcp/a', 'https://mcp/b']) putCredential(book, server, held);
    expect(findFormerIn(book, 'https://mcp/a')).toEqual(known);
    endCredential(book, held);
    expect(book).toEqual({ ...emptyStoreData(), ended: { 'https://mcp/a': known, 'https://mcp/b': known } });
    expect(findFormerIn(book, 'https://mcp/a')).toEqual(known);
    putCredential(book, 'https://mcp/a', testCredential());
    expect(Object.keys(book.ended)).toEqual(['https://mcp/b']);
    dropCredential(book, testCredential());
    expect(findFormerIn(book, 'https://mcp/a')).toBeUndefined();
    expect(findFormerIn(book, '__proto__')).toBeUndefined();
  });

  it('keeps what was renewed for the other server that shares it, where a login has moved the first one meanwhile (CL-1)', () => {
    const book = emptyStoreData();
    const shared = testCredential({ refreshToken: 'spent' });
    for (const server of ['https://mcp/a', 'https://mcp/b']) putCredential(book, server, shared);
    const moved = testCredential({ issuer: 'https://other.example', accessToken: 'moved' });
    putCredential(book, 'https://mcp/a', moved);
    const renewed = { ...shared, accessToken: 'renewed', refreshToken: 'next' };
    putCredential(book, 'https://mcp/a', renewed, shared);
    expect(findIn(book, 'https://mcp/a')).toEqual(moved);
    expect(findIn(book, 'https://mcp/b')).toEqual(renewed);
  });

  it('takes no login for ended that is newer than the one named (T-188)', () => {
    const book = emptyStoreData();
    const newer = testCredential({ accessToken: 'newer' });
    putCredential(book, 'https://mcp', newer);
    endCredential(book, testCredential());
    expect([findIn(book, 'https://mcp'), book.ended]).toEqual([newer, {}]);
  });

  it('keeps a client that another has taken the place of while a credential was issued to it (A5-10)', () => {
    const book = emptyStoreData();
    const [first, second, third] = ['first', 'second', 'third'].map((clientId) =>
      testRegistration({ clientId }),
    );
    if (first === undefined || second === undefined || third === undefined) throw new Error('three clients');
    putRegistration(book, first);
    const held = testCredential({ clientId: 'first' });
    putCredential(book, 'https://mcp', held);
    putRegistration(book, second);
    putRegistration(book, third);
    const find = (clientId?: string) => findRegistrationIn(book, 'https://as.example', clientId);
    expect([find(), find('first'), find('second'), find('third')]).toEqual([third, first, undefined, third]);
    putRegistration(book, first);
    expect([find(), find('third'), book.replaced]).toEqual([first, undefined, {}]);
    putRegistration(book, second);
    dropCredential(book, held);
    expect([find(), find('first'), book.replaced]).toEqual([second, undefined, {}]);
  });

  it('keeps no replaced client once its server is logged in to with another', () => {
    const book = emptyStoreData();
    putRegistration(book, testRegistration());
    putCredential(book, 'https://mcp', testCredential());
    putRegistration(book, testRegistration({ clientId: 'next' }));
    expect(Object.values(book.replaced)).toEqual([testRegistration()]);
    putCredential(book, 'https://mcp', testCredential({ clientId: 'next' }));
    expect(book.replaced).toEqual({});
  });

  it('drops a client that its issuer does not know any more, also where another has taken its place', () => {
    const book = emptyStoreData();
    putRegistration(book, testRegistration());
    putCredential(book, 'https://mcp', testCredential());
    putRegistration(book, testRegistration({ clientId: 'next' }));
    dropRegistration(book, 'https://as.example', 'client');
    expect([book.replaced, findRegistrationIn(book, 'https://as.example')?.clientId]).toEqual([{}, 'next']);
  });

  it('does not drop a registration under another client id', () => {
    const book = emptyStoreData();
    book.registrations['https://as'] = {
      issuer: 'https://as',
      clientId: 'mine',
      redirectUris: [],
      source: 'dynamic',
    };
    dropRegistration(book, 'https://as', 'other');
    expect(book.registrations['https://as']).toBeDefined();
    dropRegistration(book, 'https://as', 'mine');
    expect(book.registrations['https://as']).toBeUndefined();
  });
});

describe('the store in memory', () => {
  it('gives back what it was given, as copies', async () => {
    const store = createMemoryStore();
    const credential = testCredential();
    await store.saveCredential('https://mcp', credential);
    await store.saveRegistration(testRegistration());
    const found = await store.findCredential('https://mcp');
    expect(found).toEqual(credential);
    expect(found).not.toBe(credential);
    expect(await store.findRegistration('https://as.example')).toEqual(testRegistration());
    await store.endCredential(credential);
    expect(await store.findFormerLogin('https://mcp')).toEqual({ issuer: 'https://as.example', chosen: {} });
    await store.saveCredential('https://mcp', credential);
    await store.forgetCredential(credential);
    expect(await store.findFormerLogin('https://mcp')).toBeUndefined();
    await store.forgetRegistration('https://as.example', 'client');
    expect(await store.findCredential('https://mcp')).toBeUndefined();
    expect(await store.findRegistration('https://as.example')).toBeUndefined();
  });

  it('lets one work for a key at a time, also after a failure', async () => {
    const store = createMemoryStore();
    const log: string[] = [];
    const work = (name: string, fails = false) =>
      store.exclusively('k', async () => {
        log.push(`${name} in`);
        await sleep(5);
        log.push(`${name} out`);
        if (fails) throw new Error(name);
        return name;
      });
    const all = await Promise.allSettled([work('a', true), work('b'), work('c')]);
    expect(all.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(log).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out']);
  });
});
