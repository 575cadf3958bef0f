import type { CallerField } from '../oauth/caller-fields.ts';
import type { Upstream } from '../upstream/upstream.ts';

/** Data about a user that an MCP server may learn: fields of the caller, and the claims that an upstream selects. */
export type Learnable = CallerField | 'claims';

/** Data about the user, as a page names it. */
export type LearnedFact = 'email' | 'name' | 'groups' | 'identity' | 'claims' | 'login';

/** Fields behind each fact, in the order of the page. */
const fieldsOf: Readonly<Record<LearnedFact, readonly Learnable[]>> = {
  email: ['email', 'email_verified'],
  name: ['name'],
  groups: ['groups', 'roles'],
  identity: ['upstream_iss', 'upstream_sub'],
  claims: ['claims'],
  login: ['auth_time', 'amr'],
};

/** Facts that only an account has that logged in through an upstream. */
const ofUpstream: ReadonlySet<LearnedFact> = new Set(['name', 'groups', 'identity', 'claims']);

/** Data that a server learns about a user. */
export interface LearnedFacts {
  facts: readonly LearnedFact[];
  /** Display name of the upstream that the data comes from; empty if there is none. */
  label: string;
  /** Part of the arguments of calls that the operator keeps, beyond a hash. */
  kept?: KeptArguments | undefined;
}

/** `redacted`: selected values and the types of the others; `full`: all. */
export type KeptArguments = 'redacted' | 'full';

/**
 * Returns the data about a user that a server learns if the user allows an app to use it.
 * @param learns fields that the server gets
 * @param upstream the upstream of the login, if there is one: other accounts have only an address
 */
export function listLearnedFacts(
  { learns = [], keptArguments }: { learns?: readonly Learnable[]; keptArguments?: KeptArguments },
  upstream: Pick<Upstream, 'label' | 'settings'> | undefined,
): LearnedFacts {
  const selectsClaims = (upstream?.settings.callerClaims ?? []).length > 0;
  const facts = (Object.keys(fieldsOf) as LearnedFact[]).filter(
    (fact) =>
      fieldsOf[fact].some((field) => learns.includes(field)) &&
      (upstream !== undefined || !ofUpstream.has(fact)) &&
      (fact !== 'claims' || selectsClaims),
  );
  return { facts, label: upstream?.label ?? '', ...(keptArguments && { kept: keptArguments }) };
}
