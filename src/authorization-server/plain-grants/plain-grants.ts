import type { Context } from 'koa';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { datedSecret, randomSecret } from '../../crypto/secret.ts';
import { parseScope } from '../../oauth/scope.ts';
import type { Step } from '../endpoints/endpoint-guards.ts';
import { readFormBody } from '../endpoints/form-body.ts';
import { type Lifetimes, mayRefresh } from '../engine/configuration.ts';
import { successorOf } from '../engine/successors.ts';
import { secondsWithin } from '../engine/within-grant.ts';
import { createPlainChecks, type PlainAllowance, type PlainCheckOptions } from './plain-checks.ts';
import { readPlainRequest } from './plain-request.ts';
import type { PlainSource } from './plain-source.ts';

/** Parts of the plain grants. */
export interface PlainGrantOptions extends PlainCheckOptions {
  lifetimes: Pick<Lifetimes, 'accessTokenSeconds' | 'refreshTokenSeconds'>;
}

/** A grant type with a plain way: what it redeems, the parameter that has it, and those that must come along. */
interface PlainGrantType {
  kind: PlainSource['kind'];
  parameter: string;
  further: readonly string[];
}

const plainGrantTypes: ReadonlyMap<string, PlainGrantType> = new Map([
  [
    'authorization_code',
    { kind: 'AuthorizationCode', parameter: 'code', further: ['code_verifier', 'redirect_uri'] },
  ],
  ['refresh_token', { kind: 'RefreshToken', parameter: 'refresh_token', further: [] }],
]);

/** What the engine says to every page before it knows the client. */
const answerHeaders = {
  'Cache-Control': 'no-store',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'DPoP-Nonce,WWW-Authenticate',
} as const;

/** How a refresh token says that it was rotated. */
const rotated = 'refresh_token';

/**
 * Creates the step in front of the engine that answers the token requests nearly all are: a public client redeems its code
 * or refresh token for opaque bearer tokens, and everything about it is right. It answers what the engine would, and writes
 * the rows that the engine would (under dated names), through its adapters and into the same write set, in a third of the
 * time. Whatever is not plain, not right, or fails goes on to the engine as it came: every refusal is the engine's.
 * @see RFC 6749 sections 4.1.3, 5.1 and 6
 */
export function createPlainGrants(options: PlainGrantOptions): Step {
  const { adapters, lifetimes, now } = options;
  const check = createPlainChecks(options);
  const codes = adapters('AuthorizationCode');
  const refreshTokens = adapters('RefreshToken');
  const accessTokens = adapters('AccessToken');

  async function judge(ctx: Context): Promise<PlainAllowance | undefined> {
    const form = await readFormBody(ctx);
    const grantType = form?.get('grant_type') ?? '';
    const plain = plainGrantTypes.get(grantType);
    if (!form || !plain) return undefined;
    const request = readPlainRequest(ctx, form, [plain.parameter, ...plain.further]);
    if (!request) return undefined;
    // What fails here fails in the engine as well, which has the answer to it.
    return check(ctx, request, plain.kind, grantType, request.parameter(plain.parameter)).catch(
      () => undefined,
    );
  }

  /** The value of the next token: of a refresh token its successor, which is found again where the answer is lost. */
  function nextValue(
    kind: 'AccessToken' | 'RefreshToken',
    successor: string | undefined,
    atMs: number,
  ): string {
    return successor === undefined ? datedSecret(atMs, randomSecret()) : successorOf(kind, successor, atMs);
  }

  /** Keeps a token under a value, and gives that. */
  async function keep(
    adapter: Adapter,
    jti: string,
    iat: number,
    seconds: number,
    payload: Omit<AdapterPayload, 'iat' | 'exp' | 'jti'>,
  ): Promise<string> {
    await adapter.upsert(jti, { ...payload, iat, exp: iat + seconds, jti }, seconds);
    return jti;
  }

  /** The next refresh token of the family, in the place of the one that is used (RFC 9700 section 4.14.2), or its first. */
  async function refreshTokenFor(
    { client, source, grantEnds }: PlainAllowance,
    gty: string,
    value: string,
    at: number,
  ): Promise<string | undefined> {
    const seconds = secondsWithin(grantEnds, lifetimes.refreshTokenSeconds, at);
    if (source.kind === 'RefreshToken')
      return keep(refreshTokens, value, at, seconds, { ...source, gty, rotations: source.rotations + 1 });
    if (!mayRefresh(client, new Set(parseScope(source.scope)))) return undefined;
    const { codeChallenge: _challenge, codeChallengeMethod: _method, redirectUri: _uri, ...rest } = source;
    const first = { ...rest, kind: 'RefreshToken', gty, rotations: 0, iiat: at };
    return keep(refreshTokens, value, at, seconds, first);
  }

  async function issue(ctx: Context, allowed: PlainAllowance): Promise<void> {
    const { client, source, resource, scope, grantEnds } = allowed;
    const { accountId, clientId, grantId, sessionUid, sid } = source;
    const origin = source.kind === 'RefreshToken' ? source.gty : 'authorization_code';
    const gty = source.kind === 'RefreshToken' && !origin.endsWith(rotated) ? `${origin} ${rotated}` : origin;
    const at = now();
    // One date for both tokens, kept with their source: by it successors are found again.
    const atMs = Date.now();
    const seconds = secondsWithin(grantEnds, resource.accessTokenSeconds ?? lifetimes.accessTokenSeconds, at);
    const granted = { accountId, clientId, grantId, gty, aud: resource.resource, scope };
    const login = { ...(sessionUid !== undefined && { sessionUid }), ...(sid !== undefined && { sid }) };

    const successor = source.kind === 'RefreshToken' ? source.successor : undefined;
    const use = { at, ...(successor !== undefined && { successorsAtMs: atMs }) };
    await (source.kind === 'RefreshToken' ? refreshTokens : codes).consume(source.jti, use);
    const refreshToken = await refreshTokenFor(allowed, gty, nextValue('RefreshToken', successor, atMs), at);
    const accessToken = await keep(accessTokens, nextValue('AccessToken', successor, atMs), at, seconds, {
      kind: 'AccessToken',
      ...granted,
      ...login,
    });
    ctx.state.hasSuccessors = successor !== undefined;

    ctx.vary('Origin');
    ctx.set(answerHeaders);
    ctx.body = {
      access_token: accessToken,
      expires_in: seconds,
      ...(refreshToken !== undefined && { refresh_token: refreshToken }),
      scope,
      token_type: 'Bearer',
    };
    // Where the audit log and the limits look for who got what.
    const entities = { Client: client, Account: { accountId }, AccessToken: granted };
    Object.assign(ctx, { oidc: { entities } });
  }

  return async (ctx, next) => {
    const allowed = await judge(ctx);
    return allowed ? issue(ctx, allowed) : next();
  };
}
