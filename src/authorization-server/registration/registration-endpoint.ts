import type { Context } from 'koa';
import type { ArtifactStore, Conflict } from '../../storage/artifacts.ts';
import type { InvitationStore } from '../../storage/clients.ts';
import type { AuditLog } from '../audit.ts';
import { neverStore, type Step } from '../endpoints/endpoint-guards.ts';
import { answerWithOAuthError } from '../endpoints/oauth-answer.ts';
import { prepareRegistration, prepareUpdate } from '../endpoints/registration-request.ts';
import { commitWrites } from '../engine/write-set.ts';
import type { RegistrationPolicy } from './admission.ts';
import { type InvitedState, refuseToken, requireInvitation } from './invitation-guard.ts';
import type { SealedClientIds } from './sealed-client-ids.ts';

/** What the registration endpoints work with. */
export interface RegistrationEndpointOptions {
  policy: RegistrationPolicy;
  /** Redirect schemes that the operator allows beside those of known apps. */
  redirectSchemes: readonly string[];
  artifacts: ArtifactStore;
  invitations: InvitationStore;
  /** Where clients get ids that are their registration. */
  sealedIds: SealedClientIds | undefined;
  audit: AuditLog;
  /** Epoch seconds. */
  now: () => number;
}

/** Nobody registers a client here (A5-03). */
const refuseAll: Step = async (ctx) =>
  answerWithOAuthError(
    ctx,
    403,
    'access_denied',
    'this server registers no clients: ask its operator for a client id',
  );

function answerConflict(ctx: Context, conflict: Conflict): void {
  ctx.remove('Location');
  const which =
    conflict.kind === 'InitialAccessToken'
      ? 'initial access token was used up'
      : 'registration access token was replaced';
  refuseToken(ctx, `this ${which} a moment ago`);
}

/** Carries out what a request writes in one commit, or nothing of it where it was refused. */
function inOneCommit(artifacts: ArtifactStore, now: () => number): Step {
  return async (ctx, next) => {
    const { result } = await commitWrites(artifacts, async (writes) => {
      await next();
      const { invitation } = ctx.state as InvitedState;
      if (invitation !== undefined) writes.add({ type: 'useInvitation', id: invitation, at: now() });
      return ctx.status < 400 && ctx.method !== 'GET' && ctx.method !== 'HEAD';
    });
    if (!result.committed) answerConflict(ctx, result.conflict);
  };
}

const auditedChanges = { PUT: 'client.updated', DELETE: 'client.deleted' } as const;

/** Stands within the commit of what it notes. */
function auditChange(audit: AuditLog): Step {
  return async (ctx, next) => {
    await next();
    const event = auditedChanges[ctx.method as keyof typeof auditedChanges];
    if (event !== undefined && ctx.status < 300) audit(event, ctx);
  };
}

/** Stands within the commit of what it notes, where there is one. */
function auditRegistration(audit: AuditLog): Step {
  return async (ctx, next) => {
    await next();
    if (ctx.status === 201) audit('client.registered', ctx);
  };
}

/** Stands outside of the commit, which a refused request has none of. */
function auditRefusal(audit: AuditLog): Step {
  return async (ctx, next) => {
    await next();
    if (ctx.status === 401 || ctx.status === 403) audit('client.registration_refused', ctx);
  };
}

/**
 * Creates the steps of the two endpoints of registrations: where clients register (RFC 7591 section 3), and where each
 * reads, changes and deletes its own registration (RFC 7592 section 2).
 * @returns the steps in front of the engine, in order
 */
export function createRegistrationEndpoints(options: RegistrationEndpointOptions): {
  register: readonly Step[];
  manage: readonly Step[];
} {
  const { policy, redirectSchemes, artifacts, invitations, sealedIds, audit, now } = options;
  const admission: Record<RegistrationPolicy, readonly Step[]> = {
    open: [],
    approval: [],
    initial_access_token: [requireInvitation(invitations, now)],
    off: [refuseAll],
  };
  return {
    register: [
      auditRefusal(audit),
      ...admission[policy],
      prepareRegistration(sealedIds, redirectSchemes),
      // A client that is its own id is stored nowhere: what is noted of it follows behind, and no commit is waited for.
      ...(sealedIds
        ? [auditRegistration(audit), inOneCommit(artifacts, now)]
        : [inOneCommit(artifacts, now), auditRegistration(audit)]),
    ],
    manage: [neverStore, prepareUpdate(redirectSchemes), inOneCommit(artifacts, now), auditChange(audit)],
  };
}

/** Says nothing of registration in the metadata where nobody can register (RFC 8414 section 2; A5-03). */
export const concealRegistration: Step = async (ctx, next) => {
  await next();
  if (ctx.status === 200) delete (ctx.body as { registration_endpoint?: string }).registration_endpoint;
};

/** The token endpoint has no 403: a client that may not be used is told so with 400 (RFC 6749 section 5.2). */
export const refuseWith400: Step = async (ctx, next) => {
  await next();
  if (ctx.status === 403) ctx.status = 400;
};
