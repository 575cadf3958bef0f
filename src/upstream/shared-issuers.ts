import type { Upstream } from './upstream.ts';

/** Where the subjects of an upstream are from: two with the same source number the same people the same way. */
function sourceOf({ settings: { issuer, userInfoEndpoint, userInfo } }: Pick<Upstream, 'settings'>): string {
  return issuer ?? JSON.stringify([userInfoEndpoint, userInfo?.subject]);
}

/**
 * Looks for upstreams that would take the people of one for those of another: accounts are found by issuer and subject, and
 * an upstream without issuer goes by its origin, where other servers, or other names of the same people, may be (T-089).
 * @returns every problem, each beginning with the setting it is about
 */
export function findSharedIssuers(
  upstreams: readonly Pick<Upstream, 'name' | 'issuer' | 'settings'>[],
): string[] {
  return upstreams.flatMap((upstream, index) => {
    const { name, issuer } = upstream;
    const other = upstreams
      .slice(0, index)
      .find((one) => issuer !== undefined && one.issuer === issuer && sourceOf(one) !== sourceOf(upstream));
    return other
      ? [
          `upstreams.${name}: its people and those of ${other.name} would be taken for each other, as both are known as ${issuer}; leave one out, or give both the same userInfoEndpoint and userInfo.subject`,
        ]
      : [];
  });
}
