import {
  checkExchangeRules,
  checkTrustedIssuers,
  type ProtectedResource,
  readSettingsClients,
  type TrustedIssuer,
} from '../authorization-server/index.ts';
import type { Settings } from '../options.ts';
import { SettingsRefused } from '../settings/issues.ts';
import { checkUpstreams } from '../upstream/check-upstreams.ts';

type Rules = Pick<Settings, 'clients' | 'trustedIssuers' | 'tokenExchange'>;

/**
 * Finds what the settings say of resources and scopes there are not.
 * @param resources all there are
 * @returns a sentence a problem, with the setting it is about
 */
export function findMisfits(
  settings: Rules & Pick<Settings, 'upstreams'>,
  resources: readonly ProtectedResource[],
): string[] {
  return [...readRules(settings, resources).problems, ...checkUpstreams(settings.upstreams, resources)];
}

/**
 * Checks that what the settings say of resources is about resources there are.
 * @throws SettingsRefused naming each rule that speaks of another
 */
export function checkRulesFit(...given: Parameters<typeof findMisfits>): void {
  const misfits = findMisfits(...given);
  if (misfits.length > 0) throw new SettingsRefused(misfits);
}

/**
 * Reads whom the operator lets in by the settings: clients, issuers of assertions, and servers that exchange tokens.
 * @param resources all there are; the rules may name no other
 * @throws SettingsRefused with all problems at once
 */
export function readOperatorRules(settings: Rules, resources: readonly ProtectedResource[]) {
  const { problems, ...rules } = readRules(settings, resources);
  if (problems.length > 0) throw new SettingsRefused(problems);
  return rules;
}

function readRules(
  { clients, trustedIssuers, tokenExchange }: Rules,
  resources: readonly ProtectedResource[],
) {
  const issuers = trustedIssuers as readonly TrustedIssuer[];
  const preRegistered = readSettingsClients(clients.preRegistered, {
    scopes: [...new Set(resources.flatMap(({ scopes }) => Object.keys(scopes)))],
    clientCredentials: clients.clientCredentials,
    trustedIssuers: issuers.length > 0,
    tokenExchange: tokenExchange.length > 0,
  });
  const problems = [
    ...preRegistered.problems,
    ...checkTrustedIssuers(issuers, resources),
    ...checkExchangeRules(tokenExchange, resources),
  ];
  return { clients: preRegistered.clients, ownGrants: { trustedIssuers: issuers, tokenExchange }, problems };
}
