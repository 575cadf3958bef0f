import { shellWord } from '../../client/quote.ts';
import type { Finding } from '../finding.ts';

/** Origin of a report, as far as a repeated check of one finding needs it. */
export interface VerifyMeans {
  /** The program as the user calls it; `gatehouse` unless told. */
  program?: string | undefined;
  /** True if clients could be registered and logins made. */
  active: boolean;
  /** The arguments that the checks of a section got, to be given again. */
  given?: ((section: string) => readonly string[]) | undefined;
}

/** Sections of which no check becomes another one by logging in. */
const withoutLogin = new Set(['reach', 'resource', 'issuer', 'machine']);

/**
 * The command that looks at one finding again, after it was mended.
 * @param finding the finding
 * @param url URL under examination
 * @param means how the report came about
 */
export function verifyCommand(
  { id, section }: Pick<Finding, 'id' | 'section'>,
  url: string,
  { program = 'gatehouse', active, given = () => [] }: VerifyMeans,
): string {
  const flags = [
    ...(active && !withoutLogin.has(section) ? ['--active'] : []),
    ...(section === 'proxy' ? ['--proxy'] : []),
  ];
  return [program, 'doctor', '--only', id, ...flags, ...[...given(section), url].map(shellWord)].join(' ');
}
