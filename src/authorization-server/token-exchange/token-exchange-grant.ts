import { errors } from 'oidc-provider';
import { TokenStatusUnknown } from '../../oauth/auth-info.ts';
import { parseScope } from '../../oauth/scope.ts';
import type { IssuedAccessToken, IssuedAccessTokens } from '../access-tokens.ts';
import type { AuditLog } from '../audit.ts';
import { type GrantRequest, issueToken, type OwnGrant, resourceServer } from '../engine/grant-parts.ts';
import type { ProtectedResource, ResourceRegistry } from '../resources.ts';
import { grantScopes } from '../trusted-issuers/granted-scopes.ts';
import { nameActor, nameLogin } from './actor.ts';
import { accessTokenType, type ExchangeRule, tokenExchangeGrant } from './exchange-rule.ts';

/** Options of the grant. */
export interface TokenExchangeOptions {
  rules: readonly ExchangeRule[];
  accessTokens: Pick<IssuedAccessTokens, 'find'>;
  resources: ResourceRegistry;
  audit: AuditLog;
  /** Epoch seconds. */
  now: () => number;
}

/** Nobody can tell now whether the token that is exchanged stands: nothing is wrong with it, and it can be sent again. */
class SubjectUndecided extends errors.OIDCProviderError {
  override name = 'SubjectUndecided';
  constructor(cause: TokenStatusUnknown) {
    super(503, 'temporarily_unavailable', { cause });
    this.expose = true;
    this.error_description = cause.message;
  }
}

/** A token of a person that stands and hangs on a grant. */
type PersonalToken = IssuedAccessToken & { grantId: string };

/**
 * Creates the grant by which a server goes on to another one, for the person whose token it was called with (RFC 8693).
 * What it gets is never more than that token: the same account and the same grant, so that it ends with it; scopes that
 * it had; an end that is no later. It says who acts (`act`), and is for a resource that the operator named.
 */
export function createTokenExchangeGrant(options: TokenExchangeOptions): OwnGrant {
  const { rules, accessTokens, resources, audit, now } = options;

  /**
   * Reads the subject token. All faults get the same response, which reveals nothing about the token (RFC 8693 section
   * 2.2.2).
   */
  async function readSubject({ ctx, parameter }: GrantRequest): Promise<PersonalToken> {
    let found: IssuedAccessToken | undefined;
    try {
      found = await accessTokens.find(parameter('subject_token') ?? '');
    } catch (error) {
      if (!(error instanceof TokenStatusUnknown)) throw error;
      ctx.set('Retry-After', String(error.retryAfterSeconds));
      throw new SubjectUndecided(error);
    }
    if (!found || found.expiresAt <= now() || found.grantId === undefined)
      throw new errors.InvalidRequest(
        'subject_token is no access token of a person that was issued here and stands',
      );
    return { ...found, grantId: found.grantId };
  }

  function findRule(clientId: string, audience: string): ExchangeRule {
    const rule = rules.find((known) => known.clientId === clientId && known.from === audience);
    if (!rule) throw new errors.InvalidRequest('subject_token is not for a resource that this client is');
    return rule;
  }

  function chooseTarget(rule: ExchangeRule, asked: string | undefined): ProtectedResource {
    const named = asked ?? (rule.to.length === 1 ? rule.to[0] : undefined);
    const found = named === undefined ? undefined : resources.find(named);
    if (!found || !rule.to.includes(found.resource))
      throw new errors.InvalidTarget('the client may not exchange tokens for this resource');
    return found;
  }

  async function handle(request: GrantRequest): Promise<void> {
    const { ctx, provider, client, parameter } = request;
    if (client.clientAuthMethod === 'none')
      throw new errors.InvalidClient('a client has to authenticate to exchange tokens');
    const fault = findExchangeFault(parameter);
    if (fault) throw new errors.InvalidRequest(fault);
    const subject = await readSubject(request);
    const rule = findRule(client.clientId, subject.audience);
    const resource = chooseTarget(rule, parameter('resource'));
    const scopes = grantScopes({
      resource,
      asked: parameter('scope'),
      limits: [
        subject.scopes,
        rule.scopes,
        client.scope === undefined ? undefined : parseScope(client.scope),
      ],
      fallback: subject.scopes,
      excess: 'refused',
    });

    const server = await resourceServer(request, resource);
    const remaining = subject.expiresAt - now();
    const { subject: accountId, grantId, actor, login = {} } = subject;
    ctx.oidc.entity('Account', { accountId, claims: async () => ({ sub: accountId }) });
    nameLogin(ctx, login);
    nameActor(ctx, { sub: client.clientId, ...(actor ? { act: actor } : undefined) });
    const token = new provider.AccessToken({
      accountId,
      client,
      grantId,
      gty: tokenExchangeGrant,
      resourceServer: server,
      expiresIn: Math.min(server.accessTokenTTL ?? remaining, remaining),
    });
    await issueToken(request, token, scopes, { issued_token_type: accessTokenType });
    audit('token.exchanged', ctx, {
      subjectClientId: subject.clientId,
      from: subject.audience,
      to: resource.resource,
    });
  }

  return {
    name: tokenExchangeGrant,
    parameters: [
      'subject_token',
      'subject_token_type',
      'actor_token',
      'actor_token_type',
      'requested_token_type',
      'audience',
      'resource',
      'scope',
    ],
    handle,
  };
}

/** Returns a parameter of the request; undefined if it is absent. */
type Parameters = (name: string) => string | undefined;

/** One check of the form of a request: what is wrong, in a sentence; undefined if nothing is. */
type ExchangeCheck = (parameter: Parameters) => string | false | undefined;

/**
 * Checks of the form of an exchange, in order (RFC 8693 section 2.1). The authenticated client is the actor, and the
 * subject stays the same: no client acts by a token of another actor (T-104).
 */
const checks: readonly ExchangeCheck[] = [
  (parameter) => parameter('subject_token') === undefined && 'subject_token is missing',
  (parameter) =>
    parameter('subject_token_type') !== accessTokenType &&
    `subject_token_type must be ${accessTokenType}: only access tokens of this server are exchanged`,
  (parameter) =>
    (parameter('actor_token') ?? parameter('actor_token_type')) !== undefined &&
    'actor_token is not taken: the client that authenticates is the actor',
  (parameter) =>
    (parameter('requested_token_type') ?? accessTokenType) !== accessTokenType &&
    `requested_token_type must be ${accessTokenType}`,
  (parameter) =>
    parameter('audience') !== undefined && 'name what the token is for by resource, not audience',
];

/** @returns the first fault in the form of an exchange; undefined if there is none */
function findExchangeFault(parameter: Parameters): string | undefined {
  for (const check of checks) {
    const fault = check(parameter);
    if (fault) return fault;
  }
  return undefined;
}
