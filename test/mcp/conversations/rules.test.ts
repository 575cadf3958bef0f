import { describe, expect, it } from 'vitest';
import { checkAbility, readAbilities } from '../../../src/mcp/conversations/client-abilities.ts';
import { openElicitations } from '../../../src/mcp/conversations/elicitations.ts';
import { isBelow, isLogLevel } from '../../../src/mcp/conversations/log-level.ts';
import { connectFailure } from '../../../src/mcp/conversations/made-server.ts';
import { negotiateRevision } from '../../../src/mcp/conversations/revisions.ts';
import { Subscriptions } from '../../../src/mcp/conversations/subscriptions.ts';

/**
 * Covers src/mcp/conversations/client-abilities.ts, elicitations.ts, log-level.ts, made-server.ts, revisions.ts and
 * subscriptions.ts.
 */
describe('what a client can be asked', () => {
  it.each<[string, Record<string, unknown>, string, Record<string, unknown>, boolean]>([
    ['sampling', { sampling: {} }, 'sampling/createMessage', {}, true],
    ['sampling undeclared', {}, 'sampling/createMessage', {}, false],
    ['tools in sampling', { sampling: { tools: {} } }, 'sampling/createMessage', { tools: [] }, true],
    ['tools undeclared', { sampling: {} }, 'sampling/createMessage', { toolChoice: {} }, false],
    ['forms by an empty capability', { elicitation: {} }, 'elicitation/create', {}, true],
    ['forms where only visits are declared', { elicitation: { url: {} } }, 'elicitation/create', {}, false],
    ['visits', { elicitation: { url: {} } }, 'elicitation/create', { mode: 'url' }, true],
    ['visits undeclared', { elicitation: { form: {} } }, 'elicitation/create', { mode: 'url' }, false],
    ['roots undeclared', { roots: undefined }, 'roots/list', {}, false],
    ['ping', {}, 'ping', {}, true],
  ])('is told by its capabilities: %s', (_what, capabilities, method, params, allowed) => {
    const refusal = checkAbility(readAbilities(capabilities), { jsonrpc: '2.0', id: 1, method, params });
    expect(refusal?.code).toBe(allowed ? undefined : -32601);
  });
});

describe('elicitations by URL', () => {
  it('begin with a request, or with an error that asks for them', () => {
    const elicitations = [{ elicitationId: 'a' }, { elicitationId: 'b' }, {}, null];
    const data = { elicitations: elicitations.filter(Boolean) };
    const params = { mode: 'url', elicitationId: 'c' };
    expect(openElicitations({ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params })).toEqual(['c']);
    expect(openElicitations({ jsonrpc: '2.0', id: 1, error: { code: -32042, message: '', data } })).toEqual([
      'a',
      'b',
    ]);
    expect(openElicitations({ jsonrpc: '2.0', id: 1, error: { code: -32042, message: '' } })).toEqual([]);
    expect(openElicitations({ jsonrpc: '2.0', id: 1, result: {} })).toEqual([]);
  });
});

describe('log levels', () => {
  const message = (level: unknown) => ({
    jsonrpc: '2.0' as const,
    method: 'notifications/message',
    params: { level },
  });

  it('are the eight of RFC 5424', () => {
    expect(['debug', 'emergency', 'warn', 'toString', undefined].map(isLogLevel)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('hold back what is less urgent, and everything else passes', () => {
    expect(isBelow('warning', message('notice'))).toBe(true);
    expect(isBelow('warning', message('warning'))).toBe(false);
    expect(isBelow(undefined, message('debug'))).toBe(false);
    expect(isBelow('error', { ...message('debug'), method: 'notifications/progress' })).toBe(false);
  });
});

describe('the revision of a conversation', () => {
  it.each([
    ['2025-03-26', undefined, '2025-03-26'],
    ['2024-10-07', undefined, '2024-10-07'],
    ['1999-01-01', undefined, '2025-11-25'],
    ['2026-07-28', ['2026-07-28', '2025-11-25'], '2025-11-25'],
    ['2025-03-26', ['2025-11-25'], '2025-11-25'],
  ])('for %s, where the server speaks %j, is %s', (requested, supported, chosen) => {
    expect(negotiateRevision(requested, '2025-11-25', supported)).toBe(chosen);
  });
});

describe('subscriptions', () => {
  it('say whether others stay, and leave nothing behind', () => {
    const subscriptions = new Subscriptions<string>();
    subscriptions.add('__proto__', 'ann');
    subscriptions.add('__proto__', 'bob');
    expect(subscriptions.of('__proto__')).toEqual(['ann', 'bob']);
    expect([subscriptions.remove('__proto__', 'ann'), subscriptions.remove('__proto__', 'bob')]).toEqual([
      true,
      false,
    ]);
    expect([subscriptions.of('__proto__'), subscriptions.of('x'), subscriptions.size]).toEqual([[], [], 0]);
  });
});

describe('a server that does not connect', () => {
  it('is explained where it is connected already; other failures stay what they are', () => {
    const failure = new Error('No route');
    expect(connectFailure(failure)).toBe(failure);
    expect(connectFailure('odd').message).toBe('odd');
    expect(connectFailure(new Error('Already connected to a transport.')).message).toContain('Bring one');
  });
});
