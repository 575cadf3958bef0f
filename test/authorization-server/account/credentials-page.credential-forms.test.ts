import { expect, it, onTestFinished } from 'vitest';
import {
  createOwnCredentials,
  type RouteForms,
} from '../../../src/authorization-server/account/credentials-page.ts';
import { generateSealingKey } from '../../../src/crypto/key-schedule.ts';
import { createSealedBox } from '../../../src/crypto/sealed-box.ts';
import { credentialContext } from '../../../src/storage/backends.ts';
import { account, startOfTime } from '../../storage/contract/subject.ts';
import { openNewDatabase } from '../../storage/sqlite/subject.ts';

async function start() {
  const storage = openNewDatabase();
  onTestFinished(() => storage.close());
  await storage.accounts.add(account('ada'));
  const box = createSealedBox([generateSealingKey()]);
  const known: RouteForms[] = [
    {
      route: 'notion',
      label: 'Notion',
      credentials: [
        {
          name: 'apiKey',
          label: 'Notion key',
          help: 'There.',
          check: (value) => (value.includes('\n') ? 'control_characters' : undefined),
        },
      ],
    },
  ];
  const store = storage.backendCredentials;
  const own = createOwnCredentials({ forms: () => known, store, box, now: () => startOfTime });
  return { own, known, store, box };
}

const key = { accountId: 'ada', route: 'notion', name: 'apiKey' };

it('a value is kept sealed for account, route and name, and is in nothing that is shown (T-094)', async () => {
  const { own, store, box } = await start();
  expect(await own.list('ada')).toEqual([
    {
      route: 'notion',
      label: 'Notion',
      fields: [{ name: 'apiKey', label: 'Notion key', help: 'There.', enteredAt: undefined, isAsked: true }],
    },
  ]);
  expect(await own.enter(key, 'planted-key')).toBeUndefined();
  const sealed = (await store.find(key)) ?? Buffer.of();
  expect(box.open(sealed, credentialContext('ada', 'notion', 'apiKey'))).toBe('planted-key');
  expect(Buffer.from(sealed).toString('latin1')).not.toContain('planted');
  const listed = await own.list('ada');
  expect(listed[0]?.fields[0]?.enteredAt).toBe(startOfTime);
  expect(JSON.stringify(listed)).not.toContain('planted');
});

it('nothing is kept that nobody asks for, that is too long, or that its place does not take', async () => {
  const { own, store } = await start();
  expect(await own.enter({ ...key, route: 'other' }, 'a')).toBe('unknown');
  expect(await own.enter({ ...key, name: 'other' }, 'a')).toBe('unknown');
  expect(await own.enter({ ...key, accountId: 'nobody' }, 'a')).toBe('unknown');
  expect(await own.enter(key, 'a'.repeat(8_193))).toBe('too_long');
  expect(await own.enter(key, 'a\nb')).toBe('control_characters');
  expect(await store.listOf('ada')).toEqual([]);
});

it('what is asked for no more is shown until it is removed', async () => {
  const { own, known } = await start();
  await own.enter(key, 'a');
  known.length = 0;
  expect(await own.list('ada')).toEqual([
    {
      route: 'notion',
      label: 'notion',
      fields: [{ name: 'apiKey', label: 'apiKey', enteredAt: startOfTime, isAsked: false }],
    },
  ]);
  expect([await own.remove(key), await own.remove(key)]).toEqual([true, false]);
  expect(await own.list('ada')).toEqual([]);
});
