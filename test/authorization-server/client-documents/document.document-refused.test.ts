import { describe, expect, it } from 'vitest';
import { DocumentRefused } from '../../../src/authorization-server/client-documents/document.ts';

describe('a refused document', () => {
  it('is refused for good unless it says when to come again', () => {
    const cause = new Error('x');
    expect(new DocumentRefused('no', { cause })).toMatchObject({
      retryAfterSeconds: undefined,
      isOurLimit: false,
      cause,
    });
    expect(new DocumentRefused('later', { retryAfterSeconds: 30 }).retryAfterSeconds).toBe(30);
  });
});
