import { describe, expect, it } from 'vitest';
import type { Paint } from '../../../src/cli/colour.ts';
import { formatReport, summarize } from '../../../src/cli/commands/doctor-text.ts';
import { finding, reportOf } from '../../doctor/report/sample.ts';

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

  it('says why something is unknown, and groups what is skipped for one reason', () => {
    const skips = ['E', 'F', 'G'].map((id) => finding(id, 'skip', { saw: 'It needs --active.' }));
    const text = formatReport(reportOf(finding('A', 'unknown'), ...skips), look);
    expect(text).toContain('? unknown A The rule of A: what A saw\n');
    expect(text).toContain('· skip    3 checks It needs --active.\n');
    expect(formatReport(reportOf(...skips), { ...look, isVerbose: true })).toContain('(E, F, G)');
  });

  it('says what was seen of every check where that is wanted', () => {
    expect(formatReport(reportOf(finding('A', 'pass')), { ...look, isVerbose: true })).toContain(
      'what A saw',
    );
  });

  it('is broken between words at the width of the terminal', () => {
    const text = formatReport(reportOf(finding('A', 'fail', { saw: 'word '.repeat(60).trim() })), {
      ...look,
      width: 60,
    });
    for (const line of text.split('\n').filter((line) => !line.includes('Verify')))
      expect(line.length).toBeLessThan(61);
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
