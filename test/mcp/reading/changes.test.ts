import { describe, expect, it } from 'vitest';
import { changeOf, narrowed } from '../../../src/mcp/reading/changes.ts';

describe('changes', () => {
  it('are the notifications one can listen to (C5-01)', () => {
    const message = (method: string) => changeOf({ jsonrpc: '2.0', method, params: { uri: 'a:b' } });
    expect(message('notifications/resources/updated')).toEqual({
      method: 'notifications/resources/updated',
      params: { uri: 'a:b' },
    });
    expect(message('notifications/tools/list_changed')?.method).toBe('notifications/tools/list_changed');
    expect(message('notifications/message')).toBeUndefined();
    expect(message('toString')).toBeUndefined();
    expect(changeOf({ jsonrpc: '2.0', id: 1 })).toBeUndefined();
  });

  it('of data are for the account whose server said so, changed lists for everyone', () => {
    const updated = { method: 'notifications/resources/updated', params: { uri: 'a:b' } };
    expect(narrowed(updated, 'ann')).toEqual({ ...updated, account: 'ann' });
    const changed = { method: 'notifications/tools/list_changed', params: { secret: 1 } };
    expect(narrowed(changed, 'ann')).toEqual({ method: changed.method });
  });
});
