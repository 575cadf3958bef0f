import { describe, expect, it } from 'vitest';
import { connectFailure } from '../../../src/mcp/sdk/server-factory.ts';

describe('a server that does not connect', () => {
  it('is explained where it is connected already; other failures stay what they are', () => {
    const failure = new Error('No route');
    expect(connectFailure(failure)).toBe(failure);
    expect(connectFailure('odd').message).toBe('odd');
    expect(connectFailure(new Error('Already connected to a transport.')).message).toContain('Bring one');
  });
});
