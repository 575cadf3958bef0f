import { createHash } from 'node:crypto';
import { errors } from 'oidc-provider';
import { isEmailVerified } from '../../oauth/issuer.ts';
import { parseScope } from '../../oauth/scope.ts';
import { type Account, type Identity, normalizeEmail } from '../../storage/accounts.ts';
import { type GrantRequest, issueToken, resourceServer } from '../engine/grant-parts.ts';
import { currentWriteSet } from '../engine/write-set.ts';
import { createAccount, type FoundAccount, isEmailAddress, linkAccount } from '../found-account.ts';
import { newGrant } from '../interactions/make-grant.ts';
import { type Assertion, keyOfAssertion, skewSeconds } from './assertion.ts';
import { assertionRefused, chooseResource, grantScopes } from './granted-scopes.ts';
import {
  type AccountRules,
  type AccountSources,
  type IdentityRules,
  type JwtBearerOptions,
  jwtBearerGrant,
  type TrustedIssuer,
} from './trusted-issuer.ts';

/** The kind under which used assertions are remembered. */
const usedAssertionKind = 'IdentityAssertion';

type IdentityIssuer = TrustedIssuer & { identityAssertions: IdentityRules };

/**
 * Uses an assertion up, in the commit of the request: of many who send it at once one gets a token, and whoever is
 * refused for another reason may send it again (RFC 7523 section 3, `jti`).
 */
async function useUp({ artifacts }: JwtBearerOptions, { claims }: Assertion): Promise<void> {
  const id = createHash('sha256').update(`${claims.iss}\0${claims.jti}`).digest('base64url');
  if (await artifacts.find(usedAssertionKind, id)) throw assertionRefused('was used before');
  const expiresAt = Number(claims.exp) + 2 * skewSeconds;
  const put = { type: 'put', kind: usedAssertionKind, id, payload: new Uint8Array(), expiresAt } as const;
  currentWriteSet()?.put(put, 'absent');
}

/** The account the token is for has to be as it was found, to the commit (T-166). */
function writeAccount({ account, by, changes }: FoundAccount): void {
  for (const change of changes) currentWriteSet()?.add(change);
  if (by === 'created') return;
  const { id: accountId, passwordHash } = account;
  currentWriteSet()?.add({ type: 'requirePassword', accountId, passwordHash });
}

/** The claim as the one resource it names: a text, or a list of one. */
function resourceOf({ claims }: Assertion): string {
  const named: unknown = Array.isArray(claims.resource) ? claims.resource : [claims.resource];
  const [resource, ...more] = named as unknown[];
  if (typeof resource !== 'string' || more.length > 0)
    throw new errors.InvalidTarget('the assertion has to name one resource');
  return resource;
}

/**
 * Issues a token of the user that an identity provider asserts, without consent: the operator decided which provider is
 * trusted, and for what (A13-08). The token belongs to a grant of its own, which the user can see and end. There is no
 * refresh token: the identity provider decides each time whether the user may still log in.
 * @param assertion one whose signature and claims are good
 * @throws errors.InvalidGrant, errors.InvalidTarget, errors.InvalidScope
 */
export async function issueToPerson(
  options: JwtBearerOptions,
  request: GrantRequest,
  { issuer, identityAssertions: rules }: IdentityIssuer,
  assertion: Assertion,
): Promise<void> {
  const { resources, audit } = options;
  const { ctx, provider, client, parameter } = request;
  const { claims } = assertion;
  if (client.clientAuthMethod === 'none')
    throw new errors.InvalidClient('a client has to authenticate to speak for a person');

  const resource = chooseResource(resources, parameter('resource'), resourceOf(assertion), rules.resources);
  const asserted = typeof claims.scope === 'string' ? parseScope(claims.scope) : undefined;
  const scopes = grantScopes({
    resource,
    asked: parameter('scope'),
    limits: [asserted, rules.scopes, client.scope === undefined ? undefined : parseScope(client.scope)],
    fallback: asserted ?? resource.baselineScopes,
    excess: 'dropped',
  });
  const subject = String(claims.sub);
  // The operator believes this issuer about addresses, so that the claim may be absent.
  const isVerified = isEmailVerified(claims.email_verified, true);
  const email = typeof claims.email === 'string' && isVerified ? claims.email : undefined;
  const found = await findAccount(options, rules.accounts, { issuer, subject, email });
  if (!found) throw assertionRefused('is of nobody who has an account here');
  await useUp(options, assertion);
  writeAccount(found);

  const accountId = found.account.id;
  ctx.oidc.entity('Account', { accountId, claims: async () => ({ sub: accountId }) });
  const server = await resourceServer(request, resource);
  const expiresIn = server.accessTokenTTL ?? options.accessTokenSeconds;
  const grant = newGrant(provider, { accountId, clientId: client.clientId, expiresIn });
  grant.addResourceScope(resource.resource, scopes);
  const grantId = await grant.save();
  const token = new provider.AccessToken({
    accountId,
    client,
    grantId,
    gty: jwtBearerGrant,
    resourceServer: server,
    expiresIn,
  });
  await issueToken(request, token, scopes, {}, keyOfAssertion(assertion));
  if (found.by !== 'known') audit(`account.${found.by}`, ctx, { issuer, subject });
  audit('identity.accepted', ctx, { issuer, subject });
}

/** Claims of an assertion about a user. */
export interface AssertedPerson extends Identity {
  /** Undefined if the issuer names none, or does not say that it is verified. */
  email: string | undefined;
}

/** Returns true if the operator takes the issuer's word for an address. */
function isVouchedFor(email: string, { emailDomains }: AccountRules): boolean {
  return isEmailAddress(email) && emailDomains.includes(email.slice(email.indexOf('@') + 1));
}

/**
 * Finds the account of the user of an assertion (A13-08, T-104): by the operator's list, else by the linked subject,
 * else by the e-mail address, once, in the domains that the operator named. An account that is linked to another
 * subject of the issuer is never returned, whoever has its address now.
 * @returns undefined if there is no account, or if it is disabled
 */
async function findAccount(
  { accounts, identities, now }: AccountSources,
  rules: AccountRules,
  person: AssertedPerson,
): Promise<FoundAccount | undefined> {
  const { issuer, subject } = person;
  const known = (account: Account | undefined): FoundAccount | undefined =>
    account && account.disabledAt === undefined ? { account, by: 'known', changes: [] } : undefined;

  if (Object.hasOwn(rules.subjects, subject))
    return known(await accounts.findByEmail(rules.subjects[subject] ?? ''));
  const linked = await identities.findAccount({ issuer, subject });
  if (linked !== undefined) return known(await accounts.find(linked));

  const email = normalizeEmail(person.email ?? '');
  if (!isVouchedFor(email, rules)) return undefined;
  const account = await accounts.findByEmail(email);
  if (account) {
    const taken = await identities.findSubject(issuer, account.id);
    // Another request has linked it between these reads.
    if (taken === subject) return known(account);
    if (taken !== undefined || account.disabledAt !== undefined) return undefined;
    return linkAccount(account, { issuer, subject }, now());
  }
  if (!rules.create) return undefined;
  return createAccount(email, { issuer, subject }, now());
}
