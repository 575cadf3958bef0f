import type { MissingInput } from './missing-input.ts';
import type { MissingLink, UpstreamAccess } from './upstream-access.ts';

/** Message for a user who must link an account, if a client shows it beside the URL. */
export function invitation({ missing, label }: MissingLink): string {
  return missing === 'link'
    ? `This needs your account at ${label}. Link it to your account here.`
    : `This needs more from your account at ${label} than you have allowed so far. Allow it here.`;
}

/** Describes missing upstream access in the form of all input that only a user can provide. */
export function inputOfLink(missing: MissingLink, access: Pick<UpstreamAccess, 'isGiven'>): MissingInput {
  const { upstream, url, accountId, scopes } = missing;
  return {
    name: `link-${upstream}`,
    key: JSON.stringify([upstream, missing.missing, accountId, scopes]),
    message: invitation(missing),
    url,
    isGiven: () => access.isGiven(missing),
  };
}

/**
 * A tool needs something of the caller's account at an upstream that only the person can give. Let it out of the tool:
 * clients that can open URLs are asked to, and all others show the message, which has the URL.
 */
export class UpstreamLinkNeeded extends Error {
  override name = 'UpstreamLinkNeeded';
  /** Name of the upstream in the settings. */
  readonly upstream: string;
  /** The page if the person gives it. */
  readonly url: string;
  constructor(missing: MissingLink) {
    const { upstream, url } = missing;
    super(`${invitation(missing)} Open ${url} in a browser, and send this call again afterwards.`);
    this.upstream = upstream;
    this.url = url;
  }
}
