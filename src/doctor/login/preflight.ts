import type { DiscoveredServer, Registration } from '../../client/index.ts';
import { type Judgement, pass, unknown, warn } from '../check.ts';
import { isAccepted, nativeRegistrations } from '../registration/try-registration.ts';
import type { Subject } from '../subject.ts';
import {
  type AuthorizationOutcome,
  describeOutcome,
  foundServer,
  isGoingOn,
  judgeLost,
  sendAuthorization,
} from './authorization-outcome.ts';

/** A client for authorization requests without a user, and the result of a good request. */
type Preflight =
  | { kind: 'ready'; found: DiscoveredServer; client: Registration; good: AuthorizationOutcome }
  | { kind: 'unready'; judgement: Judgement };

/** Fact: a client that may send authorization requests: one that the examination registered, or else the given one. */
export async function examinedClient(
  subject: Subject,
): Promise<{ found: DiscoveredServer; client: Registration } | { judgement: Judgement }> {
  const way = await subject.fact(foundServer);
  if (way.kind === 'lost') return { judgement: judgeLost(way) };
  const { found } = way;
  const given = subject.login?.given;
  const { issuer } = found.authorizationServer;
  if (given !== undefined) return { found, client: { issuer, ...given, redirectUris: [], source: 'given' } };
  const tried = await subject.fact(nativeRegistrations);
  if (tried.kind === 'untried')
    return {
      judgement: unknown(`There is no client to ask with: ${tried.judgement.saw} Give a client id.`),
    };
  const attempt = [tried.ported, tried.untyped, tried.portless].find(
    (one) => one !== undefined && isAccepted(one),
  );
  if (attempt?.client !== undefined) return { found, client: attempt.client };
  const because = attempt === undefined ? 'REG-LOOPBACK-PORT' : 'REG-ANSWER';
  return {
    judgement: unknown('There is no client to ask with: none could be registered.', { because }),
  };
}

/** Fact: the result of a good authorization request, for comparison with bad ones. */
export async function preflight(subject: Subject): Promise<Preflight> {
  const ready = await subject.fact(examinedClient);
  if ('judgement' in ready) return { kind: 'unready', judgement: ready.judgement };
  return { kind: 'ready', ...ready, good: await sendAuthorization(subject, ready.found, ready.client) };
}

/** Description of a bad request. */
interface BadRequest {
  /** Changed parameters of a good request; null removes one. */
  changes: Readonly<Record<string, string | null>>;
  /** The request in words: `A request without code_challenge`. */
  named: string;
  /** Verdict if it is treated like a good one. */
  taken: 'fail' | 'warn';
  fix: string;
}

/**
 * Sends a bad authorization request, and checks that it is rejected.
 * @param otherwise judges some outcomes differently
 */
export async function judgeBadRequest(
  subject: Subject,
  bad: BadRequest,
  otherwise: (outcome: AuthorizationOutcome) => Judgement | undefined = () => undefined,
): Promise<Judgement> {
  const ready = await subject.fact(preflight);
  if (ready.kind === 'unready') return ready.judgement;
  const { found, client, good } = ready;
  if (isGoingOn(good, good) !== true)
    return unknown('Not even a good authorization request is taken.', { because: 'LOGIN-REQUEST' });
  const outcome = await sendAuthorization(subject, found, client, bad.changes);
  const evidence = [...good.evidence, ...outcome.evidence];
  const own = otherwise(outcome);
  if (own !== undefined) return { ...own, evidence };
  const saw = `${bad.named} ${describeOutcome(outcome)}`;
  const { fix } = bad;
  if (outcome.kind === 'broken')
    return warn(`${saw}: a fault of the server in place of a refusal.`, fix, { evidence });
  const isTaken = isGoingOn(outcome, good);
  if (isTaken === false) return pass(`${saw}.`, { evidence });
  if (isTaken === undefined)
    return unknown(`${saw}, unlike a good one. Whether that refuses it cannot be told from here.`, {
      evidence,
    });
  if (outcome.kind === 'code') return { verdict: bad.taken, saw: `${saw}.`, fix, evidence };
  return warn(
    `${saw}, as a good one is. It was not refused before the login; whether it is later was not tried.`,
    fix,
    { evidence },
  );
}
