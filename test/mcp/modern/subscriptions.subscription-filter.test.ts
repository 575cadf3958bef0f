import { describe, expect, it } from 'vitest';
import { honouredFilter, readFilter, wants } from '../../../src/mcp/modern/subscriptions.ts';

describe('what a client listens to (C5-01)', () => {
  it('is read without what it does not want', () => {
    const wish = { toolsListChanged: true, promptsListChanged: false, resourceSubscriptions: [], other: 1 };
    expect(readFilter(wish)).toEqual({ toolsListChanged: true });
    expect(readFilter({ resourceSubscriptions: ['a:b'] })).toEqual({ resourceSubscriptions: ['a:b'] });
  });

  it.each([
    undefined,
    null,
    'all',
    [],
    { toolsListChanged: 'yes' },
    { resourceSubscriptions: 'a:b' },
    { resourceSubscriptions: [1] },
    { resourceSubscriptions: Array.from({ length: 1001 }, () => 'a:b') },
    { resourceSubscriptions: Array.from({ length: 100 }, () => `a:${'b'.repeat(2000)}`) },
  ])('is not read from %j', (wish) => {
    expect(readFilter(wish)).toBeUndefined();
  });

  it('is honoured as far as the server tells of it', () => {
    const wish = {
      toolsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['a:b'],
    } as const;
    expect(honouredFilter(wish, {})).toEqual({});
    expect(honouredFilter(wish, { tools: { listChanged: true }, resources: { subscribe: false } })).toEqual({
      toolsListChanged: true,
    });
    const all = { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } };
    expect(honouredFilter(wish, all)).toEqual(wish);
  });

  it('is nothing else: other lists, other resources', () => {
    const filter = { toolsListChanged: true, resourceSubscriptions: ['a:b'] } as const;
    const updated = (uri: string) => ({ method: 'notifications/resources/updated', params: { uri } });
    expect(wants(filter, { method: 'notifications/tools/list_changed' })).toBe(true);
    expect(wants(filter, { method: 'notifications/prompts/list_changed' })).toBe(false);
    expect(wants(filter, updated('a:b'))).toBe(true);
    expect(wants(filter, updated('a:bc'))).toBe(false);
    expect(wants({}, updated('a:b'))).toBe(false);
  });
});
