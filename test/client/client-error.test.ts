import { describe, expect, it } from 'vitest';
import { InsufficientScopeError } from '../../src/client/index.ts';

describe('the error for missing scopes', () => {
  it('names the missing ones, else all that are required, else says that none were named', () => {
    const message = (required: string[], missing: string[]) =>
      new InsufficientScopeError('https://x', { required, missing, union: [] }).message;
    expect(message(['a', 'b'], ['b'])).toMatch(/: b$/);
    expect(message(['a', 'b'], [])).toMatch(/: a b$/);
    expect(message([], [])).toContain('without naming the scopes');
  });
});
