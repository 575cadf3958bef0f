import type { UpstreamLinkRow } from '../upstreams.ts';

type Nullable = 'tokens' | 'expiresAt' | 'unreachableSince';

/** A link as the database gives it. */
export type LinkRow = Omit<UpstreamLinkRow, Nullable | 'kept'> & {
  tokens: Buffer | null;
  expiresAt: number | null;
  unreachableSince: number | null;
  kept: number;
};

/** The columns of a link, named as {@link LinkRow} has them. */
export const linkColumns = `upstream_links.id, account_id AS accountId, upstream, issuer, subject, profile, tokens, generation,
  expires_at AS expiresAt, proved_at AS provedAt, unreachable_since AS unreachableSince, is_kept AS kept,
  wanted_scopes AS wantedScopes, linked_at AS linkedAt`;

/** Gives a link without what it has not. */
export function toLink({ tokens, expiresAt, unreachableSince, kept, ...row }: LinkRow): UpstreamLinkRow {
  return {
    ...row,
    kept: kept === 1,
    ...(tokens === null ? undefined : { tokens }),
    ...(expiresAt === null ? undefined : { expiresAt }),
    ...(unreachableSince === null ? undefined : { unreachableSince }),
  };
}
