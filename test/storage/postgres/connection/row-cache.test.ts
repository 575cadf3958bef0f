import { describe, expect, it } from 'vitest';
import type { ChangeMarks } from '../../../../src/storage/postgres/connection/change-marks.ts';
import { createRowCache } from '../../../../src/storage/postgres/connection/row-cache.ts';

function subject() {
  const marks = new Map<string, number>();
  const read: string[] = [];
  const of = (name: string): number => marks.get(name) ?? 0;
  const cacheRows = createRowCache({ of } as ChangeMarks);
  const change = (name: string): void => void marks.set(name, of(name) + 1);
  const find = cacheRows('accounts', async (id) => {
    read.push(id);
    if (id === 'racing') change('accounts');
    return id === 'nobody' ? undefined : { id };
  });
  return { find, read, change };
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
});
