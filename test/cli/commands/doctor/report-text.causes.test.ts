import { expect, it } from 'vitest';
import { formatCause } from '../../../../src/cli/commands/doctor/report-text.ts';
import { finding, reportOf } from '../../../doctor/report/sample.ts';

const look = { paint: (_style: string, text: string) => text, width: 60 };

it('a cause is broken between words at the width of the terminal, but its commands are not', () => {
  const broken = finding('A', 'fail', { saw: 'word '.repeat(60).trim() });
  const text = formatCause({ finding: broken, explains: [] }, reportOf(broken), look);
  for (const line of text.split('\n').filter((line) => !line.includes('Verify')))
    expect(line.length).toBeLessThan(61);
  expect(text).toContain('gatehouse doctor --only A https://mcp.example.com/mcp\n');
});

it('lines of a product stand apart from its name, however long it is', () => {
  const broken = finding('A', 'fail', { hints: [{ product: 'cloudflare', lines: '# Caching' }] });
  expect(formatCause({ finding: broken, explains: [] }, reportOf(broken), look)).toContain(
    '  cloudflare # Caching\n',
  );
});

it('a cause names the first checks it explains, and no rule where none stands in a standard', () => {
  const broken = finding('A', 'fail', { clause: 'operational' });
  const explains = ['B', 'C', 'D', 'E', 'F', 'G', 'H'];
  const text = formatCause({ finding: broken, explains }, reportOf(broken), look);
  expect(text).toContain('Explains  B, C, D, E, F and 2 more\n');
  expect(text).not.toContain('Rule');
});
