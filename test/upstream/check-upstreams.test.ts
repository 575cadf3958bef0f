import { describe, expect, it } from 'vitest';
import { checkUpstreams } from '../../src/upstream/check-upstreams.ts';

const known = [{ resource: 'https://a.example/mcp', scopes: { 'notes:read': 'Read notes.' } }];

describe('upstreams and the installation', () => {
  it('fit where they name what there is', () => {
    const fitting = {
      work: {
        resources: ['https://a.example/mcp'],
        grantScopes: [{ claim: 'groups', value: 'staff', scopes: ['notes:read'] }],
      },
      other: { resources: [] },
    };
    expect(checkUpstreams(fitting, known)).toEqual([]);
  });

  it('do not fit where they do not: each problem by its place', () => {
    const misfits = {
      work: {
        resources: ['https://a.example/mcp', 'https://b.example'],
        grantScopes: [{ claim: 'groups', value: 'staff', scopes: ['notes:write'] }],
      },
      other: { resources: ['https://a.example/mcp'] },
    };
    expect(checkUpstreams(misfits, known)).toEqual([
      'upstreams.work.resources: there is no https://b.example here; there are https://a.example/mcp',
      'upstreams.work.grantScopes.0.scopes: there is no notes:write here; there are notes:read',
      'upstreams.other.resources: https://a.example/mcp wants work already',
    ]);
  });
});
