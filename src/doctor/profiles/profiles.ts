import type { ClientProfile } from '../../oauth/client-profiles/client-profile.ts';
import { clientProfiles } from '../../oauth/client-profiles/client-profiles.ts';

/** The clients a server can be examined as: all whose behaviour is written down. */
export const profiles = clientProfiles;

/**
 * The profiles that `--as` names.
 * @param names names, or `all`
 * @throws RangeError that lists the names there are
 */
export function chooseProfiles(names: readonly string[]): readonly ClientProfile[] {
  if (names.includes('all')) return profiles;
  const unknown = names.filter((name) => !profiles.some((profile) => profile.name === name));
  if (unknown.length > 0)
    throw new RangeError(
      `There is no client ${unknown.join(', ')}. There are: all, ${profiles.map(({ name }) => name).join(', ')}.`,
    );
  return profiles.filter(({ name }) => names.includes(name));
}
