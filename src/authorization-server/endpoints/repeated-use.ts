import type { Context } from 'koa';
import type { WriteSet } from '../engine/write-set.ts';
import { answerRepeatedAssertion, isAsserting } from './client-assertion.ts';
import { answerWithOAuthError } from './oauth-answer.ts';
import { noteReason } from './refusal-reason.ts';

/** What the engine notes of a proof that was used before, which it answers like a bad grant. */
export const repeatedProof = 'DPoP proof JWT Replay detected';

/** As which the engine keeps what counts once: the `jti` of client assertions and of DPoP proofs. */
export const usedOnceKind = 'ReplayDetection';

/** Answers a request with a proof that another one used: its code or token is as good as before (RFC 9449 section 5). */
export function answerRepeatedProof(ctx: Context): void {
  noteReason(ctx, repeatedProof);
  answerWithOAuthError(ctx, 400, 'invalid_dpop_proof', 'this DPoP proof was used before; make a new one');
}

/**
 * Answers a request that lost to another one, which used its client assertion (RFC 7523 section 3; T-049) or its proof
 * (RFC 9449 section 11.1) at the same moment.
 * @param usedId which of them the commit found used, by its stored id
 * @param writes what the request was about to write: the engine takes an assertion before it takes a proof
 */
export function answerRepeatedUse(ctx: Context, usedId: string, writes: WriteSet): void {
  const first = writes.changes.find((change) => change.type === 'put' && change.kind === usedOnceKind);
  const isAssertion = isAsserting(ctx) && first?.type === 'put' && first.id === usedId;
  if (isAssertion) answerRepeatedAssertion(ctx);
  else answerRepeatedProof(ctx);
}
