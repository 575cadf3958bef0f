import { allChecks } from '../../src/doctor/all-checks.ts';
import type { Check } from '../../src/doctor/check.ts';
import { thisMachine } from '../../src/doctor/machine/machine.ts';
import { profiles } from '../../src/doctor/profiles/profile-checks.ts';

const headings: Readonly<Record<Check['section'], string>> = {
  reach: 'Reach and challenge',
  resource: 'Protected resource metadata',
  issuer: 'Authorization server metadata',
  clients: 'Known clients (`--as`)',
  machine: 'This machine',
  registration: 'Registration',
  login: 'Login',
  token: 'Tokens',
  proxy: 'Proxy in front (`--proxy`)',
};

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

/** The table of all checks as the documentation has it: a part for each section; a dagger marks what needs `--active`. */
export function formatReference(): string {
  const checks = allChecks({ machine: thisMachine({}), proxy: {}, clients: profiles });
  return (Object.keys(headings) as Check['section'][])
    .map((section) => {
      const rows = checks
        .filter((check) => check.section === section)
        .map(
          ({ id, title, clause, active }) =>
            `| \`${id}\`${active ? ' †' : ''} | ${cell(title)} | ${cell(clause)} |`,
        );
      return [`### ${headings[section]}`, '', '| id | rule | clause |', '|---|---|---|', ...rows, ''].join(
        '\n',
      );
    })
    .join('\n');
}
