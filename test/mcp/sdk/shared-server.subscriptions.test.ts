import { describe, expect, it } from 'vitest';
import { Subscriptions } from '../../../src/mcp/sdk/shared-server.ts';

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
