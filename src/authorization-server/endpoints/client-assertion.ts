import { decodeJwt, decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import type { Context } from 'koa';
import { privateKeyAlgorithms } from '../../oauth/signature-algorithms.ts';
import type { WriteSet } from '../engine/write-set.ts';
import { answerWithOAuthError, noteReason, type Step } from './endpoint-guards.ts';
import { readFormBody } from './form-body.ts';

/** Bounds of an assertion. The lifetime is twice what the MCP SDK and most others use. */
const bounds = { characters: 8_192, lifetimeSeconds: 600, skewSeconds: 15, idCharacters: 256 } as const;

/** Expected values that an assertion is compared with. */
export interface AssertionContext {
  /** Issuer identifier of this server: the only accepted audience. */
  issuer: string;
  /** `client_id` of the request, if the request has one. */
  clientId: string | undefined;
  /** Epoch seconds. */
  nowSeconds: number;
}

interface Assertion {
  header: ProtectedHeaderParameters;
  claims: JWTPayload;
}

/** One check of an assertion: what is wrong, as the end of a sentence that begins with "the client assertion". */
type AssertionCheck = (assertion: Assertion, context: AssertionContext) => string | false | undefined;

/** `typ` values of JWTs; any other type may not be used as an assertion (RFC 8725 section 3.11). */
const assertionTypes = ['jwt', 'client-authentication+jwt'];

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/**
 * The checks that need no key, in order (RFC 7523 section 3, RFC 8725, T-049). The audience is the issuer and nothing
 * beside it, as draft-ietf-oauth-rfc7523bis has it: a client that is known by a document uses one key everywhere, and a
 * hostile authorization server could have it sign for an endpoint of ours, but not for an issuer that is not its own.
 */
const checks: readonly AssertionCheck[] = [
  ({ header }) =>
    !privateKeyAlgorithms.some((alg) => alg === header.alg) &&
    `must be signed with one of ${privateKeyAlgorithms.join(', ')}`,
  ({ header }) =>
    ['jku', 'jwk', 'x5u', 'x5c', 'crit'].some((member) => member in header) &&
    'must not bring or point to keys: only registered ones count',
  ({ header }) =>
    header.typ !== undefined &&
    (typeof header.typ !== 'string' || !assertionTypes.includes(header.typ.toLowerCase())) &&
    'is a token of another type',
  ({ claims }) => (typeof claims.iss !== 'string' || claims.iss === '') && 'has no iss',
  ({ claims }) => claims.sub !== claims.iss && 'must have one and the same iss and sub, the client_id',
  ({ claims }, { clientId }) =>
    clientId !== undefined && clientId !== claims.sub && 'is of another client than client_id',
  ({ claims: { aud } }, { issuer }) =>
    (Array.isArray(aud) ? aud.length !== 1 || aud[0] !== issuer : aud !== issuer) &&
    `must be meant for ${issuer} alone (aud)`,
  ({ claims }) => !isTime(claims.exp) && 'has no exp',
  ({ claims }, { nowSeconds }) => Number(claims.exp) + bounds.skewSeconds <= nowSeconds && 'has expired',
  ({ claims }, { nowSeconds }) =>
    Number(claims.exp) > nowSeconds + bounds.lifetimeSeconds + bounds.skewSeconds &&
    `must not live longer than ${bounds.lifetimeSeconds} seconds`,
  ({ claims }, { nowSeconds }) =>
    [claims.nbf, claims.iat].some(
      (time) => time !== undefined && (!isTime(time) || time > nowSeconds + bounds.skewSeconds),
    ) && 'is from the future (nbf, iat)',
  ({ claims: { iat } }, { nowSeconds }) =>
    iat !== undefined &&
    iat + bounds.lifetimeSeconds + bounds.skewSeconds < nowSeconds &&
    `was issued more than ${bounds.lifetimeSeconds} seconds ago (iat)`,
  ({ claims: { jti } }) =>
    (typeof jti !== 'string' || jti === '' || jti.length > bounds.idCharacters) &&
    `needs a jti of at most ${bounds.idCharacters} characters`,
];

function decode(jwt: string): Assertion | undefined {
  try {
    return { header: decodeProtectedHeader(jwt), claims: decodeJwt(jwt) };
  } catch {
    return undefined;
  }
}

/**
 * Looks at a client assertion, all but its signature and whether it was used before.
 * @returns what is wrong, as the end of a sentence that begins with "the client assertion"; undefined for one whose
 *   signature is worth a look
 */
function findAssertionFault(jwt: string, context: AssertionContext): string | undefined {
  const assertion = jwt.length <= bounds.characters ? decode(jwt) : undefined;
  if (!assertion) return `is no signed JWT of at most ${bounds.characters} characters`;
  for (const check of checks) {
    const fault = check(assertion, context);
    if (fault) return fault;
  }
  return undefined;
}

/** @returns whether a request whose form was read has an assertion */
function isAsserting(ctx: Context): boolean {
  const form: unknown = ctx.state.form;
  return form instanceof URLSearchParams && form.has('client_assertion');
}

/** Answers a request whose assertion another one used at the same time (RFC 7523 section 3; T-049). The reason is the engine's for later ones. */
export function answerRepeatedAssertion(ctx: Context): void {
  noteReason(ctx, 'client assertion tokens must only be used once');
  answerWithOAuthError(ctx, 401, 'invalid_client', 'the client assertion was used before');
}

/**
 * Creates the step in front of each endpoint at which clients authenticate. The step checks an assertion before the
 * client is looked up or its keys are fetched. The engine then checks the key, the signature and `jti` (RFC 7523
 * section 2.2; A5-07).
 * @param now epoch seconds
 */
export function checkClientAssertion(issuer: string, now: () => number): Step {
  return async (ctx, next) => {
    const form = await readFormBody(ctx);
    if (!form) return;
    const assertion = form.get('client_assertion');
    if (assertion === null) return next();
    const clientId = form.get('client_id') ?? undefined;
    const fault = findAssertionFault(assertion, { issuer, clientId, nowSeconds: now() });
    if (!fault) return next();
    noteReason(ctx, `client assertion ${fault}`);
    answerWithOAuthError(ctx, 401, 'invalid_client', `the client assertion ${fault}`);
  };
}

/** The engine's description of a DPoP proof that was used before. The engine responds to it as to an invalid grant. */
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
