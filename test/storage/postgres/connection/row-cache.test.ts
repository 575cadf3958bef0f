import { describe, expect, it } from 'vitest';
import { RowCache } from '../../../../src/storage/postgres/connection/row-cache.ts';

function subject() {
  const marks = new Map<string, number>();
  const read: string[] = [];
  const of = (name: string): number => marks.get(name) ?? 0;
  const cache = new RowCache({ of });
  const change = (name: string): void => void marks.set(name, of(name) + 1);
  const find = cache.wrap('accounts', async (id) => {
    read.push(id);
    if (id === 'racing') change('accounts');
    return id === 'nobody' ? undefined : { id };
  });
  return { cache, find, read, change };
}

describe('cached rows', () => {
  it('are read once while their table does not change, and again after it did', async () => {
    const { find, read, change } = subject();
    for (let times = 0; times < 3; times++) expect(await find('ada')).toEqual({ id: 'ada' });
    change('clients');
    await find('ada');
    expect(read).toEqual(['ada']);
    change('accounts');
    await find('ada');
    expect(read).toEqual(['ada', 'ada']);
  });

  it('are not kept if there is none, or if the table changed while they were read', async () => {
    const { find, read } = subject();
    for (const id of ['nobody', 'nobody', 'racing', 'racing']) await find(id);
    expect(read).toEqual(['nobody', 'nobody', 'racing', 'racing']);
  });

  it('of other queries are found, unless their table changed while they were read', async () => {
    const { cache, find, read, change } = subject();
    const ada = { id: 'ada', read: 'elsewhere' };
    const fill = (query: () => void) =>
      cache.fill(
        async () => query(),
        () => ({ accounts: ada, clients: undefined }),
      );
    await fill(() => change('accounts'));
    expect(await find('ada')).toEqual({ id: 'ada' });
    change('accounts');
    await fill(() => change('clients'));
    expect(await find('ada')).toBe(ada);
    expect(read).toEqual(['ada']);
  });
});
