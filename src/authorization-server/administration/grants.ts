import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { Storage } from '../../storage/storage.ts';
import { type ConsentedScopes, grantedScopes } from '../engine/granted-scopes.ts';
import { openPayload } from '../engine/stored-rows.ts';
import { findAccount } from './accounts.ts';
import { AdministrationRefused } from './administration-refused.ts';

/** A consent as an operator sees it. */
export interface ListedGrant {
  /** Names it to revoke it; nobody can use it for anything else. */
  id: string;
  accountId: string;
  email: string;
  clientId: string;
  /** Scopes by resource; none if it gives only what needs no scope. */
  resources: Record<string, readonly string[]>;
  /** Time of its last redeemed code or refresh, epoch seconds. */
  usedAt?: number;
  /** Epoch seconds. */
  expiresAt: number;
  /** Name of the upstream whose login the grant depends on; absent if it depends on none. */
  upstream?: string;
}

/** Stands before ids, which may begin with a hyphen: no command line takes them for an option. */
const prefix = 'grant_';

/** Selection of grants or sessions; all if it is empty. */
export interface OfWhom {
  email?: string;
  clientId?: string;
}

/**
 * Operations on grants.
 * @param now epoch seconds
 */
export function administerGrants(
  { accounts, artifacts, upstreams }: Pick<Storage, 'accounts' | 'artifacts' | 'upstreams'>,
  box: SealedBox,
  now: () => number,
) {
  const resourcesOf = (payload: Uint8Array, id: string): ListedGrant['resources'] =>
    grantedScopes(openPayload<ConsentedScopes>(box, 'Grant', { id, payload }));
  const upstreamOf = async (id: string): Promise<string | undefined> => {
    const bond = await upstreams.bondOf(id);
    return bond && (await upstreams.find(bond.linkId))?.upstream;
  };
  const list = async ({ email, clientId }: OfWhom = {}): Promise<ListedGrant[]> => {
    const found: ListedGrant[] = [];
    for (const account of email === undefined
      ? await accounts.list()
      : [await findAccount(accounts, email)]) {
      for (const { payload, ...grant } of await artifacts.listGrants(account.id)) {
        if (grant.expiresAt <= now() || (clientId !== undefined && grant.clientId !== clientId)) continue;
        const upstream = await upstreamOf(grant.id);
        found.push({
          ...grant,
          ...(upstream === undefined ? undefined : { upstream }),
          id: `${prefix}${grant.id}`,
          accountId: account.id,
          email: account.email,
          resources: resourcesOf(payload, grant.id),
        });
      }
    }
    return found;
  };
  return {
    /**
     * Returns the grants that have not expired.
     * @throws AdministrationRefused if there is no such account
     */
    list,
    /**
     * Ends a grant with its tokens, streams and calls.
     * @throws AdministrationRefused if there is none
     */
    async revoke(name: string): Promise<void> {
      const id = name.replace(prefix, '');
      if (!(await artifacts.findGrant(id)))
        throw new AdministrationRefused(
          'not_found',
          'There is no grant with this id. The list of grants has their ids.',
        );
      await artifacts.revokeGrant(id);
    },
  };
}
