import { describe, expect, it } from 'vitest';
import { announceLists } from '../../../src/client/transports/list-announcements.ts';

describe('a new session', () => {
  it('is announced by the lists that the server tells changes of', () => {
    const capabilities = { tools: { listChanged: true }, prompts: {}, resources: { listChanged: true } };
    expect(announceLists(capabilities)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
      { jsonrpc: '2.0', method: 'notifications/resources/list_changed' },
    ]);
    expect(announceLists(undefined)).toEqual([]);
  });
});
