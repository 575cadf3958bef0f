import { describe, expect, it } from 'vitest';
import { describeReload } from '../../../../src/cli/commands/server/reload.ts';

const none = { added: [], changed: [], removed: [], kept: [] };

describe('what a reload changed', () => {
  it('has a line for each kind of change, and what waits for a restart', () => {
    const routes = { added: ['a', 'b'], changed: ['c\u001b[1m'], removed: [], kept: ['d'] };
    expect(describeReload({ routes, needRestart: ['mcp'] })).toBe(
      'added: a, b\nchanged: c\nkept: d\nafter a restart: mcp',
    );
    expect(describeReload({ routes: none, needRestart: [] })).toBe('There are no routes.');
  });

  it('has what was changed right before, where nothing was left to change', () => {
    const earlier = {
      cause: '/etc/gate.json changed',
      secondsAgo: 0.312,
      routes: { ...none, added: ['new'], changed: ['plain', 'other'] },
    };
    expect(describeReload({ routes: { ...none, kept: ['plain'] }, needRestart: [], earlier })).toBe(
      'kept: plain\nread 0.3 s ago already (/etc/gate.json changed): added new; changed plain, other',
    );
  });
});
