import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../src/client/index.ts';
import { testCredential, testRegistration } from '../support/credentials.ts';

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
