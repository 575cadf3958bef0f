import { describe, expect, it } from 'vitest';
import { createScopeHierarchy } from '../../../src/mcp/scopes/scope-gate.ts';

describe('the hierarchy of scopes (A8-05)', () => {
  const hierarchy = createScopeHierarchy({ admin: ['write'], write: ['read', 'admin'] });

  it('gives what a scope includes, and what that includes, circles or not', () => {
    expect(hierarchy(['write'])).toEqual(['write', 'read', 'admin']);
    expect(hierarchy(['other', 'admin'])).toEqual(['other', 'admin', 'write', 'read']);
  });

  it.each([[[]], [['read']], [['read', 'read']], [['constructor']]])('gives %j as it is', (granted) => {
    expect(hierarchy(granted)).toBe(granted);
  });

  it('is not hidden by a scope that is named twice', () => {
    expect(hierarchy(['admin', 'admin', 'admin'])).toEqual(['admin', 'write', 'read']);
  });
});
