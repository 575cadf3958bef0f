import { isUnknownPassword } from '../../crypto/password.ts';
import { type Account, LastLoginMethod } from '../../storage/accounts.ts';
import type { Storage } from '../../storage/storage.ts';
import type { UpstreamLinkRow } from '../../storage/upstreams.ts';
import type { Upstream, Upstreams } from '../../upstream/upstream.ts';
import type { Vault } from '../../upstream/vault.ts';
import type { LinkedUpstream, NamedUpstream } from '../views/account/upstreams.ts';

/** Options of the linked upstream accounts. */
export interface LinkedUpstreamsOptions {
  upstreams: Upstreams;
  vault: Pick<Vault, 'open' | 'profileOf'>;
  storage: Pick<Storage, 'upstreams' | 'identities' | 'passkeys'>;
}

/** The accounts elsewhere of a person: logins and tokens that are held, and those that are only known. */
export interface LinkedUpstreams {
  /** Returns them, and the upstreams that could be linked as well. */
  list(accountId: string): Promise<{ linked: LinkedUpstream[]; others: NamedUpstream[] }>;
  /** Returns one by the name of its upstream. */
  find(accountId: string, name: string): Promise<LinkedUpstream | undefined>;
  /** Returns the issuers an account without a password can log in through; undefined if it has a password. */
  waysIn(account: Account): Promise<readonly string[] | undefined>;
  /** Returns true if nobody could log in to the account any more without this upstream. */
  isOnlyWay(account: Account, name: string): Promise<boolean>;
  /**
   * Unlinks an upstream: ends all grants that depend on the link, revokes its tokens, and deletes the identity.
   * @returns false if there was no link
   * @throws LastLoginMethod if no login method of the account would be left, concurrent changes included
   */
  unlink(account: Account, name: string): Promise<boolean>;
}

/** A text of the profile that says who somebody is. */
function textOf(profile: Readonly<Record<string, unknown>>, claim: string): string | undefined {
  const value = profile[claim];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Creates the view of accounts elsewhere. */
export function createLinkedUpstreams(options: LinkedUpstreamsOptions): LinkedUpstreams {
  const { upstreams, vault } = options;
  const { upstreams: links, identities, passkeys } = options.storage;

  function useOf(upstream: Upstream | undefined): LinkedUpstream['use'] {
    if (!upstream) return 'gone';
    return upstream.settings.login ? 'login' : 'tools';
  }

  function describe(row: UpstreamLinkRow): LinkedUpstream {
    const upstream = upstreams.find(row.upstream);
    const profile = upstream ? vault.profileOf(row) : {};
    return {
      name: row.upstream,
      label: upstream?.label ?? row.upstream,
      person: textOf(profile, 'email') ?? textOf(profile, 'name') ?? row.subject,
      linkedAt: row.linkedAt,
      checkedAt: row.provedAt,
      unreachableSince: row.unreachableSince,
      scopes: upstream ? (vault.open(row)?.scopes ?? []) : [],
      hasTokens: row.tokens !== undefined,
      use: useOf(upstream),
    };
  }

  /** Those of whom nothing is held: who somebody is there stays known when everything that hung on it has ended. */
  async function listKnown(
    accountId: string,
    present: readonly UpstreamLinkRow[],
  ): Promise<LinkedUpstream[]> {
    const known = await identities.listOf(accountId);
    return upstreams.all.flatMap((upstream) => {
      const identity = known.find(({ issuer }) => issuer === upstream.issuer);
      if (!identity || present.some((row) => row.upstream === upstream.name)) return [];
      const { name, label } = upstream;
      const { subject: person, linkedAt } = identity;
      return [{ name, label, person, linkedAt, scopes: [], hasTokens: false, use: useOf(upstream) }];
    });
  }

  async function listLinked(accountId: string): Promise<LinkedUpstream[]> {
    const rows = await links.listOfAccount(accountId);
    return [...rows.map(describe), ...(await listKnown(accountId, rows))];
  }

  /** Returns the issuers a login of an account may be of; those of upstreams with many issuers by its own links. */
  async function loginIssuers(accountId: string): Promise<string[]> {
    const rows = await links.listOfAccount(accountId);
    const offered = upstreams.all.filter(({ settings }) => settings.login);
    return offered.flatMap(({ name, issuer }) => [
      ...(issuer === undefined ? [] : [issuer]),
      ...rows.filter(({ upstream }) => upstream === name).map((row) => row.issuer),
    ]);
  }

  const waysIn = async ({ id, passwordHash }: Account): Promise<readonly string[] | undefined> =>
    isUnknownPassword(passwordHash) ? loginIssuers(id) : undefined;

  return {
    waysIn,
    async list(accountId) {
      const linked = await listLinked(accountId);
      const others = upstreams.all.filter(({ name }) => !linked.some((one) => one.name === name));
      return { linked, others: others.map(({ name, label }) => ({ name, label })) };
    },
    find: async (accountId, name) => (await listLinked(accountId)).find((one) => one.name === name),
    async isOnlyWay({ id, passwordHash }, name) {
      if (!isUnknownPassword(passwordHash) || (await passkeys.listOf(id)).length > 0) return false;
      const ways = (await listLinked(id)).filter(({ use }) => use === 'login');
      return ways.length === 1 && ways[0]?.name === name;
    },
    async unlink(account, name) {
      const ways = await waysIn(account);
      const row = await links.findOfAccount(account.id, name);
      if (row) return (await links.unlink(row.id, ways)) !== undefined;
      const upstream = upstreams.find(name);
      return upstream?.issuer !== undefined && identities.forget(upstream.issuer, account.id, ways);
    },
  };
}

/**
 * Awaits a removal that may be the removal of the last login method.
 * @returns the result, or `last way in` if the removal was rejected
 */
export async function unlessLastWayIn(removal: Promise<boolean>): Promise<boolean | 'last way in'> {
  try {
    return await removal;
  } catch (error) {
    if (error instanceof LastLoginMethod) return 'last way in';
    throw error;
  }
}
