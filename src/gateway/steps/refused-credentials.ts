import type { PersonalCredentials } from '../credentials/credentials.ts';
import type { Answer, Step } from './step.ts';

/** Maximum number of attempts of a request, each with new credentials. */
const maxTries = 3;

/**
 * Creates the step behind which a server that does not accept what it is given for a caller (401) is asked again with
 * what was renewed; if nothing could be, the caller is told what to give in its place. A request that was refused so
 * had no effect, so it may be sent again, whatever it asks for.
 */
export function createRefusedCredentials(credentials: Pick<PersonalCredentials, 'refused'>): Step {
  return {
    cares: () => true,
    async answer(request, passing, next) {
      const { caller } = passing;
      for (let tries = 1; ; tries++) {
        const beganMs = performance.now();
        const answer = await next(request);
        if (!caller || !isRefused(answer)) return answer;
        const found = await credentials.refused(caller, beganMs);
        if (found === undefined || passing.isCancelled) return answer;
        if (found !== 'renewed') return found;
        if (tries === maxTries) return answer;
      }
    },
  };
}

function isRefused({ error }: Answer): boolean {
  return (error?.data as { reason?: unknown } | undefined)?.reason === 'backend_wants_login';
}
