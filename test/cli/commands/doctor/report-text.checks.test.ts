import { expect, it } from 'vitest';
import { formatCheckList } from '../../../../src/cli/commands/doctor/report-text.ts';
import { allChecks } from '../../../../src/doctor/all-checks.ts';
import { thisMachine } from '../../../../src/doctor/machine/machine.ts';
import { profiles } from '../../../../src/doctor/profiles/profile-checks.ts';
import { testIo } from '../../support/client-commands.ts';

const checks = allChecks({ machine: thisMachine({}), proxy: {}, clients: profiles });

it('the list has id, rule and clause of each check, and the option it needs', () => {
  const text = formatCheckList(checks, {}, testIo().io);
  expect(text.split('\n')).toHaveLength(checks.length + 2);
  expect(text).toMatch(/\nPRM-RESOURCE .* RFC 9728 section 3\.3\n/);
  expect(text).toMatch(/\nLOGIN-PKCE .* --active\n/);
  expect(text).toMatch(/\nPROXY-\S+ .* --proxy\n/);
  expect(text).toMatch(/\nCLIENT-CURSOR .* --as\n/);
});

it('the list is one JSON object for programs', () => {
  const list = JSON.parse(formatCheckList(checks, { json: true }, testIo().io)) as { checks: unknown[] };
  expect(list).toMatchObject({ schema: 1 });
  expect(list.checks[0]).toEqual({
    id: 'REACH-URL',
    section: 'reach',
    title: expect.any(String),
    clause: expect.any(String),
    active: false,
  });
});
