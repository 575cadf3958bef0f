import type { Upstream } from '../upstream.ts';

/** An upstream, as far as the bond asks it. */
export type BondUpstream = Pick<Upstream, 'name' | 'revocationEndsAll' | 'check' | 'refresh' | 'revoke'> & {
  readonly settings: Pick<Upstream['settings'], 'checkSeconds' | 'graceSeconds' | 'unverifiableSeconds'>;
};

/** The upstreams of the settings. */
export interface BondUpstreams {
  /** Gives one by its name; undefined where the settings have none of that name (any more). */
  find(name: string): BondUpstream | undefined;
}
