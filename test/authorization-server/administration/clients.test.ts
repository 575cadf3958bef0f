import { describe, expect, it } from 'vitest';
import { openTestAdministration } from './support/administration.ts';

describe('a client', () => {
  it('that does not exist cannot be removed', async () => {
    const administration = await openTestAdministration();
    await expect(administration.clients.remove('none')).rejects.toThrow('There is no client with this id.');
    expect(await administration.clients.list()).toEqual([]);
  });
});
