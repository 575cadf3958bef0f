import { broken, sound, type UpstreamFinding } from './finding.ts';

const id = 'UP-KEYS';

/** Members that only a private or shared key has (RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1). */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'];

/**
 * Looks at the keys that ID tokens are verified with (RFC 7517 section 5).
 * @param published the document at `jwks_uri`
 */
export function checkKeys(published: unknown): UpstreamFinding {
  const keys = (published as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys) || keys.length === 0)
    return broken(
      id,
      'There is no key at jwks_uri.',
      'Ask whoever runs it: without keys no ID token can be verified.',
    );
  const entries = keys.map((key) => Object(key) as Record<string, unknown>);
  if (entries.some((key) => secretMembers.some((member) => key[member] !== undefined)))
    return broken(
      id,
      'Among its public keys is one with private members: anybody can sign ID tokens.',
      'Do not log in with it until its keys are replaced.',
    );
  const usable = entries.filter(({ use, kty }) => (use === undefined || use === 'sig') && kty !== 'oct');
  return usable.length === 0
    ? broken(id, 'None of its keys is for signatures.', 'Publish the keys that ID tokens are signed with.')
    : sound(id, `${usable.length} ${usable.length === 1 ? 'key verifies' : 'keys verify'} ID tokens.`);
}
