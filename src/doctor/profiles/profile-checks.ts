import type { ClientProfile } from '../../oauth/client-profiles/client-profile.ts';
import { clientProfiles } from '../../oauth/client-profiles/client-profiles.ts';
import { type Check, fail, type Judgement, pass, skip, unknown } from '../check.ts';
import { replay } from './replay.ts';
import type { ReplayStep } from './resource-replay.ts';

/**
 * Describes the known facts about a client and the conclusions, for readers who doubt a verdict.
 * @param profile of the client
 */
export function describeProfile({ title, version, observed, facts }: ClientProfile): string {
  const grounds = facts.map(({ says, grounds: how, from }) => `- ${says} (${how}: ${from})`);
  return [`${title} ${observed}, described on ${version}:`, ...grounds].join('\n');
}

function judge(profile: ClientProfile, steps: readonly ReplayStep[], active: boolean): Judgement {
  const last = steps.at(-1);
  const evidence = steps.flatMap((step) => step.evidence ?? []);
  const inferred = profile.facts.some(({ grounds }) => grounds === 'inferred')
    ? ' (part of this is inferred)'
    : '';
  if (last?.kind === 'out_of_reach') return skip(last.saw);
  if (last?.kind === 'stops')
    return fail(`${profile.title} stops at ${last.name}: ${last.saw} ${last.clause}${inferred}.`, last.fix, {
      evidence: last.evidence ?? evidence,
    });
  if (last === undefined || last.kind === 'unknown')
    return unknown(`${profile.title}: ${last?.name ?? 'nothing'} could not be seen. ${last?.saw ?? ''}`, {
      evidence,
    });
  if (last.kind === 'inside') return pass(`${profile.title} gets in. ${last.saw}`, { evidence });
  const how = active ? `${last.name}: ${last.saw}` : last.saw;
  return pass(`${profile.title} gets to the login page (${how})${inferred}.`, { evidence });
}

/**
 * Creates one check for each client: can it log in? Registrations are tried in an active examination only.
 * @param chosen the clients, see `chooseProfiles`
 */
export function profileChecks(chosen: readonly ClientProfile[]): readonly Check[] {
  return chosen.map((profile) => ({
    id: `CLIENT-${profile.name.toUpperCase()}`,
    section: 'clients',
    title: `${profile.title} gets to the login page`,
    clause: `Observed behaviour of ${profile.title} ${profile.observed}, ${profile.version}`,
    judge: async (subject) => judge(profile, await replay(profile, subject), subject.active),
  }));
}

/** All clients with a known behaviour. */
export const profiles = clientProfiles;

/**
 * Returns the profiles that `--as` names.
 * @param names names, or `all`
 * @throws RangeError with the known names
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
