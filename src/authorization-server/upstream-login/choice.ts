import type { Upstream, Upstreams } from '../../upstream/upstream.ts';
import type { Interaction } from '../interactions/interaction.ts';
import type { UpstreamFaultName } from '../views/upstream-fault.ts';
import { domainOf } from './admission.ts';

/** The user's choice on the pages of an interaction, and its result. */
export interface Choice {
  /** Name of the upstream; empty if they chose another way. */
  upstream: string;
  /** Reason why the user is still on the page. */
  fault?: UpstreamFaultName;
  /** True if they are to choose an account there. */
  otherAccount?: boolean;
}

/** The ways to log in for an authorization request. */
export interface WaysIn {
  /** Upstreams that are offered. */
  upstreams: readonly Upstream[];
  /** True if our own logins are. */
  own: boolean;
  /** The upstream that was chosen: by the person, by the domain of who is meant, or as the only way there is. */
  chosen: Upstream | undefined;
}

const detail = 'upstream';

/** Reads what was chosen; undefined if nothing was. */
export function readChoice({ prompt }: Interaction): Choice | undefined {
  return prompt.details[detail] as Choice | undefined;
}

/** Keeps what was chosen with the interaction; the caller stores it. Undefined forgets it. */
export function noteChoice({ prompt }: Interaction, choice: Choice | undefined): void {
  if (choice) prompt.details[detail] = choice;
  else delete prompt.details[detail];
}

/** Upstreams that a resource wants and no other login; empty if any will do. */
export function upstreamsOfResource({ all }: Upstreams, resource: string): Upstream[] {
  return all.filter(({ settings }) => settings.resources.includes(resource));
}

/** Finds the ways to log in for a request. @param resource the resource indicator it is for */
export function waysIn(upstreams: Upstreams, interaction: Interaction, resource: string): WaysIn {
  const only = upstreamsOfResource(upstreams, resource);
  const own = only.length === 0;
  const offered = own ? upstreams.all.filter(({ settings }) => settings.login) : only;
  if (!own && offered.length === 1) return { upstreams: offered, own, chosen: offered[0] };
  const choice = readChoice(interaction);
  if (choice) {
    const chosen = offered.find(({ name }) => name === choice.upstream);
    return { upstreams: offered, own, chosen };
  }
  const hint = interaction.params.login_hint;
  const domain = typeof hint === 'string' && hint.includes('@') ? domainOf(hint) : '';
  const meant = offered.find(({ settings }) =>
    settings.domains.some((each) => domain !== '' && each.toLowerCase() === domain),
  );
  return { upstreams: offered, own, chosen: meant };
}
