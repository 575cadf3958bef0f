import { describe, expect, it } from 'vitest';
import { describeNodes, describeReload } from '../../../../src/cli/commands/server/reload.ts';

const none = { added: [], changed: [], removed: [], kept: [] };

describe('what a reload changed', () => {
  it('has a line for each kind of change, and what waits for a restart', () => {
    const routes = { added: ['a', 'b'], changed: ['c\u001b[1m'], removed: [], kept: ['d'] };
    expect(describeReload({ routes, needRestart: ['mcp'] })).toBe(
      'added: a, b\nchanged: c\nkept: d\nneeds a restart: mcp',
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
      'kept: plain\nalready reloaded 0.3 s ago (/etc/gate.json changed): added new; changed plain, other',
    );
  });
});

it('The outcomes of other nodes have a line each', () => {
  const outcomes = (['reloaded', 'refused', 'no answer'] as const).map((outcome, index) => ({
    ...{ id: `node ${index}`, address: `10.0.0.${index}:7001`, outcome },
  }));
  expect(describeNodes(outcomes)).toEqual([
    'node 10.0.0.0:7001: reloaded',
    'node 10.0.0.1:7001: nothing has changed: it cannot use its config file, its log says why',
    'node 10.0.0.2:7001: no answer within 5 s; gatehouse nodes shows its state',
  ]);
});
