import { describe, expect, it } from 'vitest';
import { clientLifetimes, documentRetentionSeconds } from '../../src/storage/clients.ts';

describe('clients', () => {
  it('that nobody consented to are kept for a day, those that wait for approval for a week, used ones for ninety days (T-061)', () => {
    expect(clientLifetimes).toEqual({
      neverUsedSeconds: 24 * 3600,
      pendingSeconds: 7 * 24 * 3600,
      afterUseSeconds: 90 * 24 * 3600,
    });
  });
});

describe('client documents', () => {
  it('are kept for thirty days after the last fetch', () => {
    expect(documentRetentionSeconds).toBe(30 * 24 * 3600);
  });
});
