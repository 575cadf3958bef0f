import { describe, expect, it } from 'vitest';
import { toJunit } from '../../../src/doctor/report/junit.ts';
import { finding, reportOf } from './sample.ts';

const report = reportOf(
  finding('A', 'pass', { section: 'reach' }),
  finding('B', 'fail'),
  finding('C', 'warn'),
  finding('D', 'unknown'),
  finding('E', 'skip', { because: 'B' }),
);

describe('a report as JUnit XML', () => {
  it('has a suite for each section, and a test for each check', () => {
    const xml = toJunit(report, 'fail');
    expect(xml).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>\n<testsuites name="gatehouse doctor">/);
    expect(xml).toContain(
      '<testsuite name="reach" tests="1" failures="0" errors="0" skipped="0" hostname="mcp.example.com">',
    );
    expect(xml).toContain('<testsuite name="resource" tests="4" failures="1" errors="0" skipped="2"');
    expect(xml).toContain('<testcase classname="doctor.resource" name="B: The rule of B"><failure type="B"');
    expect(xml).toContain('what B saw&#10;Rule: RFC 9728 section 3.3&#10;Fix: mend B</failure>');
    expect(xml).toContain('<system-out>warn: what C saw</system-out>');
    expect(xml).toContain('<skipped message="unknown: what D saw"/>');
  });

  it('counts what the threshold counts: unknown is an error, never a pass', () => {
    expect(toJunit(report, 'warn')).toContain('tests="4" failures="2" errors="0" skipped="2"');
    expect(toJunit(report, 'unknown')).toContain('tests="4" failures="2" errors="1" skipped="1"');
    expect(toJunit(report, 'unknown')).toContain('<error type="D" message="unknown: what D saw">');
  });

  it('is well-formed whatever a server said (T-190)', () => {
    const xml = toJunit(
      reportOf(finding('A', 'fail', { saw: '<a href="x">&\u0000\u001b[31m\ud800 ]]>' })),
      'fail',
    );
    expect(xml).toContain('message="fail: &lt;a href=&quot;x&quot;&gt;&amp;[31m ]]&gt;"');
    for (const bad of ['\u0000', '\u001b', '\ud800']) expect(xml).not.toContain(bad);
  });

  it('is written for a URL that is none, too', () => {
    expect(toJunit({ ...report, url: 'nonsense' }, 'fail')).toContain('hostname=""');
  });
});
