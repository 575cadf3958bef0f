import { describe, expect, it } from 'vitest';
import { documentKeptSeconds } from '../../src/storage/client-documents.ts';

describe('client documents', () => {
  it('are kept for thirty days after the last fetch', () => {
    expect(documentKeptSeconds).toBe(30 * 24 * 3600);
  });
});
