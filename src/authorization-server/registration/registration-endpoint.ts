import type { Context } from 'koa';
import type { ArtifactStore, Conflict } from '../../storage/artifacts.ts';
import type { InvitationStore } from '../../storage/clients.ts';
import type { AuditLog } from '../audit.ts';
import {
  checkAuthMethod,
  checkName,
  checkRedirectUris,
  isDeviceOnly,
  type Metadata,
  type MetadataRefusal,
  normalizeRegistration,
} from '../client-metadata.ts';
import { answerWithOAuthError, neverStore, type Step } from '../endpoints/endpoint-guards.ts';
import { BodyRefused, readBody, replayBody } from '../endpoints/form-body.ts';
import { commitWrites } from '../engine/write-set.ts';
import { tolerate } from '../tolerances.ts';
import { type InvitedState, type RegistrationPolicy, refuseToken, requireInvitation } from './admission.ts';
import type { SealedClientIds } from './sealed-client-ids.ts';

/** Options of the registration endpoints. */
export interface RegistrationEndpointOptions {
  policy: RegistrationPolicy;
  /** Redirect schemes that the operator allows beside those of known apps. */
  redirectSchemes: readonly string[];
  artifacts: ArtifactStore;
  invitations: InvitationStore;
  /** Present if the id of a client is its sealed registration. */
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

/** Commits all writes of a request together, or none if the request is rejected. */
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

/** Creates the step that audits changes of registrations, in the commit of the change. */
function auditChange(audit: AuditLog): Step {
  return async (ctx, next) => {
    await next();
    const event = auditedChanges[ctx.method as keyof typeof auditedChanges];
    if (event !== undefined && ctx.status < 300) audit(event, ctx);
  };
}

/** Records registrations in the audit log, within the commit of the request. */
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
 * Creates the steps of the two registration endpoints: for new clients (RFC 7591 section 3), and for a client that
 * reads, changes or deletes its registration (RFC 7592 section 2).
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

/** Limits of a registration (T-060, T-062). */
const limits = { bytes: 56 * 1024, levels: 8 } as const;

/** Members that are null or empty say nothing; several clients send all they know of (RFC 7591 section 2: all optional). */
function dropEmpty(metadata: Metadata): Metadata {
  const said = Object.entries(metadata).filter(([, value]) => value !== null && value !== '');
  if (said.length === Object.keys(metadata).length) return metadata;
  return tolerate('emptyMembers', 'null or empty members') ? Object.fromEntries(said) : metadata;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((entry) => isDeeper(entry, levels - 1));
}

/** Client metadata, or the reason why the body has none. */
type ReadMetadata = { metadata: Metadata } | { refusal: MetadataRefusal };

function parseMetadata(body: Buffer): ReadMetadata {
  const refuse = (description: string) => ({
    refusal: { status: 400, error: 'invalid_client_metadata', description } as const,
  });
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return refuse('the body must be JSON in UTF-8');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    return refuse('the body must be a JSON object');
  if (isDeeper(parsed, limits.levels)) return refuse('the body is nested too deeply');
  return { metadata: dropEmpty(parsed as Metadata) };
}

/** Checks the metadata for faults that deserve an error description of their own. */
function checkMetadata(metadata: Metadata, schemes: readonly string[]): MetadataRefusal | undefined {
  const refusal = isDeviceOnly(metadata) ? undefined : checkRedirectUris(metadata, schemes);
  return refusal ?? checkName(metadata) ?? checkAuthMethod(metadata);
}

function refuse(ctx: Context, { status, error, description }: MetadataRefusal): undefined {
  answerWithOAuthError(ctx, status, error, description);
}

/** Reads a body: media type, size, JSON. */
async function takeMetadata(ctx: Context): Promise<ReadMetadata> {
  const unreadable = (status: number, description: string): ReadMetadata => ({
    refusal: { status, error: 'invalid_request', description },
  });
  if (!ctx.is('application/json')) return unreadable(415, 'send the client metadata as application/json');
  let body: Buffer;
  try {
    body = await readBody(ctx, limits.bytes);
  } catch (error) {
    if (!(error instanceof BodyRefused)) throw error;
    return unreadable(error.status, error.message);
  }
  return parseMetadata(body);
}

/** Finds the metadata that a client sent. All steps of a request get the same. */
async function findMetadata(ctx: Context): Promise<ReadMetadata> {
  const known: ReadMetadata | undefined = ctx.state.clientMetadata;
  const found = known ?? (await takeMetadata(ctx));
  ctx.state.clientMetadata = found;
  return found;
}

/** @returns whether a request to a registration endpoint was read whole: it has no body, or client metadata (T-207) */
export async function isRegistrationReadable(ctx: Context): Promise<boolean> {
  return !['POST', 'PUT'].includes(ctx.method) || 'metadata' in (await findMetadata(ctx));
}

/**
 * Reads client metadata and checks it.
 * @returns undefined if the request got its error response
 */
async function readMetadata(ctx: Context, schemes: readonly string[]): Promise<Metadata | undefined> {
  const parsed = await findMetadata(ctx);
  if ('refusal' in parsed) return refuse(ctx, parsed.refusal);
  const refusal = checkMetadata(parsed.metadata, schemes);
  return refusal ? refuse(ctx, refusal) : parsed.metadata;
}

function replayMetadata(ctx: Context, metadata: Metadata): void {
  replayBody(ctx, Buffer.from(JSON.stringify(metadata)));
}

/**
 * Creates the step in front of the engine's registration endpoint: media type, size, JSON, redirect URIs, name,
 * authentication method, then the normal form (RFC 7591 section 3.1).
 * @param sealedIds present if the metadata must fit into an id
 * @param schemes redirect schemes that the operator allows beside those of known apps
 */
function prepareRegistration(sealedIds: SealedClientIds | undefined, schemes: readonly string[]): Step {
  return async (ctx, next) => {
    const metadata = await readMetadata(ctx, schemes);
    if (!metadata) return;
    const normal = normalizeRegistration(metadata, schemes);
    const fitted = sealedIds?.fit(normal) ?? { metadata: normal };
    if ('refusal' in fitted) return refuse(ctx, fitted.refusal);
    replayMetadata(ctx, fitted.metadata);
    await next();
  };
}

/**
 * Members that an update repeats for comparison, or must not contain: the engine checks them (RFC 7592 section 2.2).
 */
const judgedByEngine = [
  'client_id',
  'client_secret',
  'registration_access_token',
  'registration_client_uri',
  'client_secret_expires_at',
  'client_id_issued_at',
] as const;

/**
 * Creates the step that holds a changed registration to the same rules as a new one (RFC 7592 section 2.2; T-064).
 * @param schemes see {@link prepareRegistration}
 */
function prepareUpdate(schemes: readonly string[]): Step {
  return async (ctx, next) => {
    if (ctx.method !== 'PUT') return next();
    const metadata = await readMetadata(ctx, schemes);
    if (!metadata) return;
    const repeated = judgedByEngine.filter((name) => Object.hasOwn(metadata, name));
    replayMetadata(ctx, {
      ...normalizeRegistration(metadata, schemes),
      ...Object.fromEntries(repeated.map((name) => [name, metadata[name]])),
    });
    await next();
  };
}
