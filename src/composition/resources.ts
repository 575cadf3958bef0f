import { paths } from '../app/paths.ts';
import {
  checkExchangeRules,
  checkTrustedIssuers,
  keepSettingsClients,
  type ProtectedResource,
  readSettingsClients,
  type TrustedIssuer,
} from '../authorization-server/index.ts';
import type { SealedBox } from '../crypto/sealed-box.ts';
import type { Logger } from '../observability/logger.ts';
import type { Settings } from '../options.ts';
import type { NormalizedServer } from '../protected-server.ts';
import { SettingsRefused } from '../settings/issues.ts';
import { completeResources, findOwnResources } from '../settings/resources.ts';
import type { Storage } from '../storage/storage.ts';
import { checkUpstreams } from '../upstream/index.ts';
import type { ResolvedRoute } from './resolve-routes.ts';

/** A family of transports. Each is a protected resource with its own URL. */
export type OwnResource = 'mcp' | 'sse' | 'rest';

/**
 * Returns the identifiers of a server's protected resources (RFC 8707 section 2).
 * @param place the public URL followed by the path of the route
 */
export function ownResources(place: string): Record<OwnResource, string> {
  return { mcp: `${place}${paths.mcp}`, sse: `${place}${paths.sse}`, rest: `${place}${paths.rest}` };
}

/** A server in this process, with the identifiers of its resources. */
export interface OwnServerResources {
  own: Record<OwnResource, string>;
  server: Pick<NormalizedServer, 'name' | 'scopes' | 'baselineScopes' | 'learns'>;
  route?: Pick<ResolvedRoute, 'recording'>;
}

/**
 * Lists all protected resources that tokens are issued for: first the ones in this process, then the ones elsewhere.
 * @param servers the servers in this process
 * @throws SettingsRefused if `resources` names a resource of this process
 */
export function composeResources(
  settings: Pick<Settings, 'resources' | 'tokens' | 'calls'>,
  servers: readonly OwnServerResources[],
): ProtectedResource[] {
  const { resources, tokens } = settings;
  const misplaced = findOwnResources(
    resources,
    servers.flatMap(({ own }) => Object.values(own)),
  );
  if (misplaced.length > 0) throw new SettingsRefused(misplaced);
  const servedHere = servers.flatMap(({ own, server, route }) => {
    const { name, scopes, baselineScopes, learns = [] } = server;
    const kept = route?.recording.arguments ?? 'hash';
    return Object.values(own).map((resource) => ({
      resource,
      name,
      scopes,
      baselineScopes,
      learns,
      ...(kept !== 'hash' && settings.calls.store !== 'off' && { keptArguments: kept }),
      dpopRequired: tokens.dpop.required,
      accessTokenFormat: tokens.format,
    }));
  });
  const elsewhere = completeResources(resources, tokens.dpop.required);
  // The token and its introspection contain both (RFC 9068 section 2.2.1, RFC 9470 section 6).
  return [
    ...servedHere,
    ...elsewhere.map((resource) => ({ ...resource, learns: ['auth_time', 'amr'] as const })),
  ];
}

type Rules = Pick<Settings, 'clients' | 'trustedIssuers' | 'tokenExchange'>;

/**
 * Finds settings that name resources or scopes that do not exist.
 * @param resources all protected resources
 * @returns one sentence for each problem, with the setting it is about
 */
export function findMisfits(
  settings: Rules & Pick<Settings, 'upstreams'>,
  resources: readonly ProtectedResource[],
): string[] {
  return [...readRules(settings, resources).problems, ...checkUpstreams(settings.upstreams, resources)];
}

/**
 * Requires that settings name only resources and scopes that exist.
 * @throws SettingsRefused naming each rule that does not
 */
export function checkRulesFit(...given: Parameters<typeof findMisfits>): void {
  const misfits = findMisfits(...given);
  if (misfits.length > 0) throw new SettingsRefused(misfits);
}

/**
 * Reads the settings that admit clients, issuers of assertions, and servers that exchange tokens.
 * @param resources all protected resources; the rules may name no other
 * @throws SettingsRefused with all problems at once
 */
export function readOperatorRules(settings: Rules, resources: readonly ProtectedResource[]) {
  const { problems, ...rules } = readRules(settings, resources);
  if (problems.length > 0) throw new SettingsRefused(problems);
  return rules;
}

/** Parts of {@link keepOperatorClients}. */
interface OperatorClientParts {
  clients: ReturnType<typeof readOperatorRules>['clients'];
  storage: Pick<Storage, 'clients'>;
  box: SealedBox;
  logger: Pick<Logger, 'warn'>;
  /** Epoch seconds. */
  now: () => number;
}

/** Stores the clients of the settings, and ends those that are not in the settings any more. */
export async function keepOperatorClients({ clients, storage, box, logger, now }: OperatorClientParts) {
  for (const clientId of await keepSettingsClients(storage.clients, box, clients, now()))
    logger.warn({ clientId }, 'a client was removed from the settings; its grants and tokens have ended');
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
