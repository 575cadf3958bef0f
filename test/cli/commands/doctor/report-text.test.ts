import { describe, expect, it } from 'vitest';
import { formatReport, summarize } from '../../../../src/cli/commands/doctor/report-text.ts';
import type { Paint } from '../../../../src/cli/output.ts';
import { finding, reportOf } from '../../../doctor/report/sample.ts';

const plain: Paint = (_style, text) => text;
const look = { paint: plain, width: 100 };

describe('a report for a person', () => {
  it('begins with what to mend: what was seen, the rule, the fix, what it explains, and how to verify', () => {
    const text = formatReport(
      reportOf(
        finding('A', 'pass'),
        finding('B', 'warn'),
        finding('C', 'fail', { evidence: [1], hints: [{ product: 'nginx', lines: 'one;\ntwo;' }] }),
        finding('D', 'skip', { because: 'C' }),
      ),
      look,
    );
    expect(text).toBe(
      [
        'To mend',
        '',
        '✗ fail    C  The rule of C',
        '  Saw       what C saw',
        '  Rule      RFC 9728 section 3.3',
        '  Fix       mend C',
        '  nginx     one;',
        '            two;',
        '  Explains  D',
        '  Evidence  #1 POST https://mcp.example.com/mcp → 401',
        '  Verify    gatehouse doctor --only C https://mcp.example.com/mcp',
        '',
        '! warn    B  The rule of B',
        '  Saw       what B saw',
        '  Rule      RFC 9728 section 3.3',
        '  Fix       mend B',
        '  Verify    gatehouse doctor --only B https://mcp.example.com/mcp',
        '',
        'Protected resource metadata',
        '✓ pass    A The rule of A',
        '! warn    B The rule of B',
        '✗ fail    C The rule of C',
        '· skip    D Because of C.',
        '',
        '4 checks: 1 failed, 1 warning, 1 passed, 1 skipped',
        '',
      ].join('\n'),
    );
  });

  it('of many checks has a line for each section, and every check where that is wanted', () => {
    const many = Array.from({ length: 30 }, (_nothing, at) => finding(`A-${at}`, 'pass'));
    const short = formatReport(reportOf(...many), look);
    expect(short).toBe(
      [
        'All checks',
        '✓ Protected resource metadata  30 passed',
        '',
        '30 checks: 30 passed',
        '--verbose lists every check.',
        '',
      ].join('\n'),
    );
    expect(formatReport(reportOf(...many), { ...look, isVerbose: true })).toContain('✓ pass    A-29');
  });

  it('says that --active tells more, once nothing stands in its way', () => {
    const skipped = finding('L', 'skip', { section: 'login' });
    expect(formatReport(reportOf(skipped), look)).toContain('--active also registers and logs in.');
    expect(formatReport(reportOf(finding('A', 'fail'), skipped), look)).not.toContain('--active also');
    expect(formatReport({ ...reportOf(skipped), active: true }, look)).not.toContain('--active also');
  });

  it('lets no text of a server act on the terminal (T-190)', () => {
    const text = formatReport(
      reportOf(
        finding('A', 'fail', {
          saw: 'one\u001b]8;;https://evil\u0007two\u202e\nthree',
          hints: [{ product: 'nginx', lines: 'x\u001b[2J' }],
        }),
      ),
      look,
    );
    for (const bad of ['\u001b', '\u0007', '\u202e']) expect(text).not.toContain(bad);
  });

  it('paints symbols and words, so that neither is needed to read it', () => {
    const painted: string[] = [];
    formatReport(reportOf(finding('A', 'fail')), {
      width: 80,
      paint: (style, text) => {
        painted.push(`${style}: ${text}`);
        return text;
      },
    });
    expect(painted).toContain('red: ✗ fail   ');
  });
});

it('one sentence counts', () => {
  expect(summarize(reportOf(finding('A', 'pass')))).toBe('1 check: 1 passed');
  expect(summarize(reportOf(finding('A', 'warn'), finding('B', 'warn'), finding('C', 'unknown')))).toBe(
    '3 checks: 2 warnings, 1 unknown',
  );
});
