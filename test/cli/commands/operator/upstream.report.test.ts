import { describe, expect, it } from 'vitest';
import { formatUpstreamReport } from '../../../../src/cli/commands/operator/upstream.ts';

const report = {
  upstream: 'work',
  callbackUrl: 'https://mcp.example.com/upstream/work/callback',
  logoutUrl: 'https://mcp.example.com/upstream/work/backchannel-logout',
  outcome: 'faults' as const,
  findings: [
    { id: 'UP-METADATA', verdict: 'pass' as const, saw: 'Its metadata is\u001b[2J there.' },
    { id: 'UP-CLIENT', verdict: 'fail' as const, saw: 'It refuses the secret.', fix: 'Give the right one.' },
  ],
};

describe('the report of an upstream', () => {
  it('has a line a check, its fix below it, and the callback URL first; nothing acts on a terminal (T-190)', () => {
    const text = formatUpstreamReport(report, { paint: (_style, written) => written, width: 100 });
    expect(text.split('\n').slice(0, 2)).toEqual([
      'Upstream work',
      'Callback URL to register there: https://mcp.example.com/upstream/work/callback',
    ]);
    expect(text).toMatch(/✗ fail +UP-CLIENT +It refuses the secret\.\n +-> Give the right one\./);
    expect(text).toContain('Its metadata is there.');
    expect(text).not.toContain('\u001b');
    expect(text.trimEnd().split('\n').at(-1)).toBe('There is something to mend.');
  });

  it('breaks lines at the width of the terminal', () => {
    const text = formatUpstreamReport(report, { paint: (_style, written) => written, width: 60 });
    const lines = text.split('\n').filter((line) => !line.includes('https://'));
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(60);
  });
});
