import type { ClientProfile } from '../../oauth/client-profiles/client-profile.ts';
import type { Subject } from '../subject.ts';
import { replayAddress, replayChallenge } from './first-contact-replay.ts';
import { replayIssuer } from './issuer-replay.ts';
import { replayPage } from './page-replay.ts';
import { replayRegistration } from './registration-replay.ts';
import type { ReplayStep } from './replay-step.ts';
import { replayResource } from './resource-replay.ts';

/**
 * Walks the way of a client to the login page of a server, as its profile describes it, up to the step at which it
 * stops.
 * @param profile the client
 * @param subject the server under examination
 * @returns the steps it took; only the last may be other than `goes_on`
 */
export async function replay(profile: ClientProfile, subject: Subject): Promise<readonly ReplayStep[]> {
  const steps: ReplayStep[] = [];
  /** Adds steps up to the first that is the last; says whether the client goes on. */
  const goesOn = (more: readonly ReplayStep[]): boolean => {
    for (const step of more) {
      steps.push(step);
      if (step.kind !== 'goes_on') return false;
    }
    return true;
  };
  if (!goesOn([replayAddress(profile, subject.url)])) return steps;
  if (!goesOn([await replayChallenge(profile, subject)])) return steps;
  const resource = await replayResource(profile, subject);
  if (!goesOn(resource.steps)) return steps;
  const issuer = await replayIssuer(profile, subject, resource.taken);
  if (!goesOn(issuer.steps) || issuer.taken === undefined) return steps;
  if (profile.runsOn === 'page' && !goesOn([await replayPage(subject, issuer.taken)])) return steps;
  goesOn(await replayRegistration(profile, subject, issuer.taken, resource.taken));
  return steps;
}
