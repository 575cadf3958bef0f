import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { ArtifactStore, GrantRow } from '../../storage/artifacts.ts';
import { type ConsentedScopes, grantedScopes } from '../engine/granted-scopes.ts';
import { openPayload } from '../engine/stored-names.ts';
import type { ResourceRegistry } from '../resources.ts';
import type { ConnectedApp } from '../views/account/overview.ts';
import type { ClientSummaries } from './client-summaries.ts';
import type { McpConnections } from './mcp-connections.ts';

/** What the connected apps are read from, and ended with. */
export interface ConnectedAppsOptions {
  artifacts: ArtifactStore;
  box: SealedBox;
  resources: ResourceRegistry;
  describeClient: ClientSummaries;
  mcpConnections: McpConnections;
  /** Epoch seconds. */
  now: () => number;
}

/** The apps that may act for an account: one entry a grant. */
export interface ConnectedApps {
  /** Gives them, the youngest first. */
  list(accountId: string): Promise<ConnectedApp[]>;
  /**
   * Ends one: its tokens, streams, MCP sessions and running calls.
   * @returns its client; undefined where the account has no such grant
   */
  end(accountId: string, id: string): Promise<string | undefined>;
}

/** The part of the engine's grant that is shown. */
interface GrantPayload extends ConsentedScopes {
  /** Its name, as tokens know it. */
  jti: string;
  iat: number;
}

/** Creates the list of connected apps (ASVS 5.0 10.7.3; T-124). */
export function createConnectedApps(options: ConnectedAppsOptions): ConnectedApps {
  const { artifacts, box, resources, describeClient, mcpConnections, now } = options;

  function allowedBy(payload: GrantPayload): ConnectedApp['resources'] {
    return Object.entries(grantedScopes(payload)).map(([indicator, given]) => {
      const resource = resources.find(indicator);
      const scopes = given.map((scope) => resource?.scopes[scope] ?? scope);
      return { name: resource?.name ?? indicator, scopes };
    });
  }

  async function describe(row: GrantRow): Promise<ConnectedApp> {
    const payload = openPayload<GrantPayload>(box, 'Grant', row);
    return {
      id: row.id,
      client: await describeClient(row.clientId),
      resources: allowedBy(payload),
      grantedAt: payload.iat,
      expiresAt: row.expiresAt,
      ...(row.usedAt === undefined ? undefined : { usedAt: row.usedAt }),
    };
  }

  return {
    async list(accountId) {
      const rows = (await artifacts.listGrants(accountId)).filter(({ expiresAt }) => expiresAt > now());
      const apps = await Promise.all(rows.map(describe));
      return apps.sort((a, b) => b.grantedAt - a.grantedAt);
    },
    async end(accountId, id) {
      const grant = (await artifacts.listGrants(accountId)).find((row) => row.id === id);
      if (!grant) return undefined;
      await artifacts.revokeGrant(id);
      const { clientId } = grant;
      const { jti: grantId } = openPayload<GrantPayload>(box, 'Grant', grant);
      await mcpConnections.endOfGrant(accountId, { clientId, grantId });
      return grant.clientId;
    },
  };
}
