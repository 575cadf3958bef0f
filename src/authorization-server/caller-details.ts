import { isDeepStrictEqual } from 'node:util';
import type { SealedBox } from '../crypto/sealed-box.ts';
import type { CallerClient, CallerDetails, CallerIdentity } from '../oauth/auth-info.ts';
import { normalizeEmail } from '../storage/accounts.ts';
import type { Storage } from '../storage/storage.ts';
import type { UpstreamLinkRow } from '../storage/upstreams.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import type { Vault } from '../upstream/vault.ts';
import type { IssuedAccessToken, IssuedAccessTokens } from './access-tokens.ts';
import type { ClientDocuments } from './client-documents/client-documents.ts';
import type { Metadata } from './client-metadata.ts';
import { openPayload } from './engine/stored-rows.ts';

/** Options of {@link describeCallers}. */
export interface CallerDetailsOptions {
  storage: Pick<Storage, 'accounts' | 'clients' | 'upstreams'>;
  upstreams: Pick<Upstreams, 'find'>;
  vault: Pick<Vault, 'profileOf'>;
  documents: Pick<ClientDocuments, 'recall'> | undefined;
  box: SealedBox;
  /** Epoch seconds. */
  now: () => number;
}

/**
 * Time after which the details of a token are read again, in seconds. An e-mail address never changes, and the end of an
 * account, a client or a login ends the token at once: only names, groups, roles and claims can be this old.
 */
const freshSeconds = 60;

/**
 * Maximum number of groups and of roles, as in tokens of Entra ID: they have to fit into a header. A longer list is left
 * out, because part of a list would look complete.
 */
const maxNames = 200;

/** A token with its details, and the time at which they were read, epoch seconds. */
interface Described {
  token: IssuedAccessToken;
  readAt: number;
}

/**
 * Adds data about the account, the client and the login to access tokens, for MCP servers. The data is read with the
 * first call of a token, and again after a minute. A token whose details are unchanged stays the same object.
 */
export function describeCallers(
  tokens: IssuedAccessTokens,
  options: CallerDetailsOptions,
): IssuedAccessTokens {
  const { now } = options;
  const described = new WeakMap<IssuedAccessToken, Described>();
  return {
    ...tokens,
    async find(token) {
      const issued = await tokens.find(token);
      if (!issued) return undefined;
      const age = now() - (described.get(issued)?.readAt ?? Number.NEGATIVE_INFINITY);
      if (age < 0 || age >= freshSeconds) {
        const details = await readDetails(issued, options);
        const known = described.get(issued)?.token;
        const isKnown = known !== undefined && isDeepStrictEqual(known.details, details);
        described.set(issued, { token: isKnown ? known : { ...issued, details }, readAt: now() });
      }
      return described.get(issued)?.token;
    },
  };
}

async function readDetails(
  { subject, clientId, bond, login }: IssuedAccessToken,
  options: CallerDetailsOptions,
): Promise<CallerDetails> {
  const { storage, vault } = options;
  const account = subject === clientId ? undefined : await storage.accounts.find(subject);
  const link = bond && (await storage.upstreams.find(bond.linkId));
  const profile = link ? vault.profileOf(link) : {};
  const client = await findClient(clientId, options);
  const verified = typeof profile.email === 'string' ? normalizeEmail(profile.email) : undefined;
  // Who logs in at an upstream that names no address gets one where nobody has mail.
  const email = account?.email.endsWith('.invalid') ? verified : account?.email;
  return {
    ...(email !== undefined && { email, emailVerified: email === verified }),
    ...(typeof profile.name === 'string' && profile.name !== '' && { displayName: profile.name }),
    ...(link && { upstream: describeUpstream(link, profile, options) }),
    ...(client && { client }),
    ...(login?.auth_time !== undefined && { authTime: login.auth_time }),
    ...(login?.amr !== undefined && { amr: login.amr }),
  };
}

function describeUpstream(
  { upstream: name, issuer, subject }: UpstreamLinkRow,
  profile: Readonly<Record<string, unknown>>,
  { upstreams }: CallerDetailsOptions,
): CallerIdentity {
  const groups = readNames(profile.groups);
  const roles = readNames(profile.roles);
  const selected = upstreams.find(name)?.settings.callerClaims ?? [];
  const claims = selected
    .filter((claim) => Object.hasOwn(profile, claim))
    .map((claim) => [claim, profile[claim]] as const);
  return {
    name,
    issuer,
    subject,
    ...(groups && { groups }),
    ...(roles && { roles }),
    ...(claims.length > 0 && { claims: Object.fromEntries(claims) }),
  };
}

/** Reads a claim with one name or several. */
function readNames(claim: unknown): readonly string[] | undefined {
  const list: unknown[] = Array.isArray(claim) ? claim : [claim];
  const isList = list.length > 0 && list.length <= maxNames;
  return isList && list.every((name) => typeof name === 'string' && name !== '')
    ? (list as string[])
    : undefined;
}

async function findClient(
  clientId: string,
  { storage, documents, box }: CallerDetailsOptions,
): Promise<CallerClient | undefined> {
  const row = await storage.clients.find(clientId);
  const metadata = row ? openPayload<Metadata>(box, 'Client', row) : await documents?.recall(clientId);
  if (!metadata) return undefined;
  const { client_name: name } = metadata;
  return {
    ...(typeof name === 'string' && name !== '' && { name }),
    kind: row ? row.origin : 'metadata_document',
  };
}
