import type { AccountStore } from '../../storage/accounts.ts';
import type { UpstreamEnded, UpstreamStore } from '../../storage/upstreams.ts';
import { findAccount } from './accounts.ts';
import type { OfWhom } from './grants.ts';
import type { RecordAction } from './recorded.ts';

/** A linked upstream account as an operator sees it. */
export interface ListedLink {
  upstream: string;
  accountId: string;
  email: string;
  issuer: string;
  subject: string;
  /** Epoch seconds. */
  linkedAt: number;
  /** Time when the upstream last confirmed the login, epoch seconds. */
  checkedAt: number;
  /** Since when it does not answer, epoch seconds. */
  unreachableSince?: number;
  /** True if tokens of it are kept. */
  hasTokens: boolean;
  /** True if the person linked it for tools: it then stays without a grant that hangs on it. */
  isForTools: boolean;
}

/** The links that an operator ended. */
export interface EndedLinks extends UpstreamEnded {
  links: number;
}

/**
 * Operations on logins at upstreams.
 * @param record takes note of what was ended
 */
export function administerUpstreams(
  { accounts, upstreams }: { accounts: AccountStore; upstreams: UpstreamStore },
  record: RecordAction,
) {
  return {
    /**
     * Returns who is linked, by account.
     * @throws AdministrationRefused if there is no such account
     */
    async list({ email }: Pick<OfWhom, 'email'> = {}): Promise<ListedLink[]> {
      const asked = email === undefined ? await accounts.list() : [await findAccount(accounts, email)];
      const found: ListedLink[] = [];
      for (const account of asked)
        for (const row of await upstreams.listOfAccount(account.id))
          found.push({
            upstream: row.upstream,
            accountId: account.id,
            email: account.email,
            issuer: row.issuer,
            subject: row.subject,
            linkedAt: row.linkedAt,
            checkedAt: row.provedAt,
            ...(row.unreachableSince === undefined ? {} : { unreachableSince: row.unreachableSince }),
            hasTokens: row.tokens !== undefined,
            isForTools: row.kept,
          });
      return found;
    },
    /**
     * Ends every login through an upstream, or those of one account: grants, tokens, streams and browser logins that
     * hang on it end at once, and the tokens of the upstream are given back to it. Who somebody is there stays known.
     * @throws AdministrationRefused if there is no such account
     */
    async end(upstream: string, email?: string): Promise<EndedLinks> {
      const account = email === undefined ? undefined : await findAccount(accounts, email);
      const ended = await upstreams.endAll(upstream, account?.id);
      const counts = Object.entries(ended).map(([name, count]) => [name, String(count)]);
      await record('upstream.ended', {
        target: upstream,
        ...(account === undefined ? {} : { accountId: account.id }),
        ...Object.fromEntries(counts),
      });
      return ended;
    },
  };
}
