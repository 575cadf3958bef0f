import { expect, it } from 'vitest';
import { sealedColumns } from '../../src/storage/sealed-columns.ts';

it('The sealing contexts of two columns differ, as do those of two rows (T-179)', () => {
  // Tokens that are to be revoked were sealed for their link.
  const moved = 'upstream_revocations';
  const contexts = sealedColumns
    .filter(({ table }) => table !== moved)
    .flatMap(({ parts, context }) => ['1', '2'].map((id) => context(...parts.map(() => id))));
  expect(new Set(contexts).size).toBe(contexts.length);
});
