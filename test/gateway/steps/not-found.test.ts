import { expect, it } from 'vitest';
import { notFound } from '../../../src/gateway/steps/not-found.ts';

it.each([
  ['tool', 'legacy', -32602],
  ['prompt', 'modern', -32602],
  ['resource', 'legacy', -32002],
  ['template', 'modern', -32602],
] as const)(
  'an unknown %s is, for a %s server, the error %i; a long name is not repeated',
  (kind, era, code) => {
    const { error } = notFound(kind, 'x'.repeat(5000), { era });
    expect(error?.code).toBe(code);
    expect(error?.message.length).toBeLessThan(300);
  },
);
