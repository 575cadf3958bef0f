import { type Requirement, type Revision, requirements, type Threat, threats } from './requirements.ts';

/** Which lines a section of the manifest promises today: those of these roles that concern one of these revisions. */
interface DeliveredSection {
  sections: readonly string[];
  roles: readonly string[];
  revisions: readonly Revision[];
}

/** What stands today. Add a section when its tests land; take nothing away. */
export const deliveredSections: readonly DeliveredSection[] = [
  {
    sections: ['A1', 'A2', 'A3', 'A4', 'A5', 'A6', 'A7', 'A8', 'A9', 'A12', 'A13'],
    roles: ['AS', 'RS'],
    revisions: ['03', '06', '11', '26', 'ext'],
  },
  { sections: ['A10', 'A11'], roles: ['AS'], revisions: ['03', '06', '11', '26'] },
  {
    sections: ['B1', 'B2', 'B3', 'B4', 'B5', 'B7', 'C1', 'C2', 'C3', 'C4', 'C5', 'C6', 'C7', 'C8', 'C9'],
    roles: ['RS', 'both', 'all', 'custom'],
    revisions: ['24', '03', '06', '11', '26'],
  },
  {
    sections: ['A1', 'A2', 'A3', 'A4', 'A5', 'A6', 'A7', 'A8', 'A9', 'A12', 'A13'],
    roles: ['CL'],
    revisions: ['24', '03', '06', '11', '26', 'ext'],
  },
  {
    sections: ['B1', 'B2', 'B3', 'B4', 'B5', 'B6', 'B7', 'C1', 'C2', 'C3', 'C4', 'C5', 'C6', 'C7', 'C8'],
    roles: ['CL'],
    revisions: ['24', '03', '06', '11', '26', 'ext'],
  },
  {
    sections: ['A7', 'A11', 'A12', 'B1', 'B5', 'B7', 'C4', 'C6', 'C8'],
    roles: ['GW'],
    revisions: ['24', '03', '06', '11', '26', 'ext'],
  },
];

/** Groups of threats that are withstood today. */
export const deliveredThreatGroups: readonly string[] = [
  'A',
  'B',
  'C',
  'D',
  'E',
  'F',
  'G',
  'H',
  'I',
  'J',
  'K',
  'L',
  'M',
];

/** Ids of the above that no test cites yet, each with the reason. */
export const exceptions: readonly { id: string; reason: string }[] = [
  {
    id: 'A12-06',
    reason:
      'nothing installs a local server: a program is started only where its whole command line was typed with --transport stdio',
  },
  {
    id: 'C2-05',
    reason:
      'an example of a failure; initialize does not fail here, as the lifecycle wants the newest revision offered instead',
  },
  {
    id: 'T-175',
    reason:
      'there is no PostgreSQL adapter yet; on SQLite T-036 and T-043 hold for two processes on one database',
  },
  {
    id: 'T-177',
    reason:
      'nodes with clocks of their own need PostgreSQL; processes on one SQLite database share the clock of their machine',
  },
  { id: 'C6-09', reason: 'tasks of 2025-11-25 are experimental, and not delivered' },
  { id: 'C6-10', reason: 'the extension for tasks is not delivered' },
];

/**
 * Says whether a section promises a requirement. One that names no revision, as those of our own, concerns all.
 * @param requirement a line of the manifest
 * @param delivered the section's promise
 */
export function promises(delivered: DeliveredSection, requirement: Requirement): boolean {
  const [section = ''] = requirement.id.split('-');
  const roles = requirement.role.split(/[^A-Za-z]+/);
  return (
    delivered.sections.includes(section) &&
    delivered.roles.some((role) => roles.includes(role)) &&
    (requirement.revisions.length === 0 ||
      delivered.revisions.some((revision) => requirement.revisions.includes(revision)))
  );
}

/**
 * Gives the ids that tests must cite today.
 * @returns ids in the manifest's order, exceptions left out
 */
export function deliveredIds(): string[] {
  const excepted = new Set(exceptions.map(({ id }) => id));
  const lines: readonly (Requirement | Threat)[] = [
    ...requirements.filter((line) => deliveredSections.some((section) => promises(section, line))),
    ...threats.filter(({ group }) => deliveredThreatGroups.includes(group)),
  ];
  return lines.map(({ id }) => id).filter((id) => !excepted.has(id));
}
