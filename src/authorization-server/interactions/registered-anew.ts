import type { Context } from 'koa';
import type Provider from 'oidc-provider';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import { isLoopbackRedirect } from '../../oauth/redirect-uri.ts';
import type { ArtifactStore, GrantRow } from '../../storage/artifacts.ts';
import type { ClientStore } from '../../storage/clients.ts';
import type { AuditLog } from '../audit.ts';
import type { Metadata } from '../client-metadata.ts';
import { type ConsentedScopes, grantedScopes } from '../engine/granted-scopes.ts';
import { openPayload } from '../engine/stored-rows.ts';
import { currentWriteSet } from '../engine/write-set.ts';
import type { AskedFor } from './interaction.ts';

/** Seconds that an unused grant of a program stays after the program has registered again. */
const abandonedSeconds = 7 * 86_400;

/** Maximum number of registrations that are read at one consent: an account may have thousands of unused grants (FA-04). */
const maxRegistrations = 200;

/** Finds the grants of an account that an earlier registration of a program has left behind at a resource. */
export type FindAbandonedGrants = (
  accountId: string,
  client: Metadata,
  resource: string,
) => Promise<readonly Pick<GrantRow, 'id' | 'clientId'>[]>;

/**
 * Returns what registrations of one program have in common: its name, and its loopback redirect URIs without their ports.
 * @returns undefined for an app that is no program of a machine, and for one without a name
 */
function programOf({ client_name: name, redirect_uris: uris }: Metadata): string | undefined {
  if (typeof name !== 'string' || !Array.isArray(uris) || uris.length === 0) return undefined;
  const places = uris.map((uri) => (isLoopbackRedirect(String(uri)) ? URL.parse(String(uri)) : null));
  if (places.includes(null)) return undefined;
  const withoutPorts = places.map((place) => `${place?.hostname}${place?.pathname}${place?.search}`);
  return JSON.stringify([name, ...new Set(withoutPorts.toSorted())]);
}

/**
 * Creates the search for grants that nothing uses any more. A program such as mcporter registers anew when its port has
 * changed, and never comes back to the registration before (FA-53). The same name does not prove the same program, and each
 * machine has a registration of its own: so a grant counts only if nothing was redeemed or refreshed under it for a week
 * beyond the life of an access token.
 * @param now epoch seconds
 */
export function createFindAbandonedGrants(
  {
    artifacts,
    clients,
  }: { artifacts: Pick<ArtifactStore, 'listGrants'>; clients: Pick<ClientStore, 'find'> },
  box: SealedBox,
  { accessTokenSeconds }: { accessTokenSeconds: number },
  now: () => number,
): FindAbandonedGrants {
  async function registeredProgram(clientId: string): Promise<string | undefined> {
    const row = await clients.find(clientId);
    return row?.origin === 'registered' ? programOf(openPayload<Metadata>(box, 'Client', row)) : undefined;
  }

  return async (accountId, client, resource) => {
    const program = programOf(client);
    if (program === undefined) return [];
    const programs = new Map<string, string | undefined>();
    const usedBefore = now() - abandonedSeconds - accessTokenSeconds;
    const found: Pick<GrantRow, 'id' | 'clientId'>[] = [];
    const grants = await artifacts.listGrants(accountId);
    const latestFirst = grants.toSorted((one, other) => (other.usedAt ?? 0) - (one.usedAt ?? 0));
    for (const { id, clientId, payload, usedAt } of latestFirst) {
      if (clientId === client.client_id || usedAt === undefined || usedAt > usedBefore) continue;
      if (!programs.has(clientId)) {
        if (programs.size === maxRegistrations) break;
        programs.set(clientId, await registeredProgram(clientId));
      }
      if (programs.get(clientId) !== program) continue;
      const scopes = grantedScopes(openPayload<ConsentedScopes>(box, 'Grant', { id, payload }));
      if (scopes[resource] !== undefined) found.push({ id, clientId });
    }
    return found;
  };
}

/** Ends what {@link FindAbandonedGrants} finds, in the same commit as the consent to the new registration. */
export async function endAbandonedGrants(
  ctx: Context,
  options: { provider: Provider; findAbandonedGrants: FindAbandonedGrants; audit: AuditLog },
  accountId: string,
  { clientId, resource }: AskedFor,
): Promise<void> {
  const client = await options.provider.Client.find(clientId);
  if (!client) return;
  const abandoned = await options.findAbandonedGrants(
    accountId,
    client.metadata() as Metadata,
    resource.resource,
  );
  for (const { id, clientId: before } of abandoned) {
    currentWriteSet()?.add({ type: 'removeGrant', id });
    options.audit('grant.revoked', ctx, { accountId, clientId: before, reason: 'registered_anew' });
  }
}
