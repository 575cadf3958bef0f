import { describe, expect, it } from 'vitest';
import { recorded } from '../../../src/authorization-server/administration/recorded.ts';

function startSection() {
  const notes: [string, object][] = [];
  const section = recorded(
    {
      list: async () => ['a'],
      add: async (_details: { name: string }) => ({ clientId: 'c1', secret: 'SECRET' }),
      setPassword: async (_email: string, _password: string) => undefined,
      fail: async (_id: string) => {
        throw new Error('no');
      },
    },
    { list: undefined, add: 'client.added', setPassword: 'account.password_set', fail: 'never' },
    async (event, details) => void notes.push([event, details]),
  );
  return { section, notes };
}

describe('an operator’s action', () => {
  it('is noted with what it was about, and no secret of it (T-192, T-197)', async () => {
    const { section, notes } = startSection();
    expect(await section.add({ name: 'n' })).toMatchObject({ clientId: 'c1' });
    await section.setPassword(`${'a'.repeat(300)}@example.com`, 'SECRET');
    expect(notes).toEqual([
      ['client.added', { target: 'c1' }],
      ['account.password_set', { target: 'a'.repeat(254) }],
    ]);
    expect(JSON.stringify(notes)).not.toContain('SECRET');
  });

  it('that changes nothing or fails is not noted', async () => {
    const { section, notes } = startSection();
    expect(await section.list()).toEqual(['a']);
    await expect(section.fail('x')).rejects.toThrow('no');
    expect(notes).toEqual([]);
  });
});
