import type { Finding } from '../finding.ts';

/** @returns the text as one word of a POSIX shell */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * The command that looks at one finding again, after it was mended.
 * @param finding the finding
 * @param url URL under examination
 * @param options how the report came about, as far as the check needs it
 */
export function verifyCommand(
  { id, section }: Pick<Finding, 'id' | 'section'>,
  url: string,
  options: { active: boolean },
): string {
  const active = options.active && ['registration', 'login', 'token'].includes(section) ? ' --active' : '';
  const proxy = section === 'proxy' ? ' --proxy' : '';
  return `gatehouse doctor --only ${id}${active}${proxy} ${shellWord(url)}`;
}
