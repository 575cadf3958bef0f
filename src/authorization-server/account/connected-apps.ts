import type Provider from 'oidc-provider';
import { type Client, errors } from 'oidc-provider';
import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { ArtifactStore, GrantRow } from '../../storage/artifacts.ts';
import type { ClientDocuments } from '../client-documents/client-documents.ts';
import { type ConsentedScopes, grantedScopes } from '../engine/granted-scopes.ts';
import { openPayload } from '../engine/stored-rows.ts';
import type { ResourceRegistry } from '../resources.ts';
import type { ConnectedApp } from '../views/account/overview.ts';
import type { ClientSummary } from '../views/client-summary.ts';

/** Options of the connected apps. */
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
  /** Returns them, the youngest first. */
  list(accountId: string): Promise<ConnectedApp[]>;
  /**
   * Ends one: its tokens, streams, MCP sessions and running calls.
   * @returns its client; undefined if the account has no such grant
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

/** An open MCP session of an account. */
export interface McpConnection {
  /** Names it to end it. */
  key: string;
  clientId: string;
  /** Display name of the server, if there are several servers. */
  server?: string;
  /** Epoch seconds. */
  createdAt: number;
  /** Epoch seconds. */
  usedAt: number;
}

/** Access to the MCP sessions in the same process. */
export interface McpConnections {
  /** Returns an account's open sessions, last used first. */
  list(accountId: string): Promise<McpConnection[]>;
  /** Ends a session with its streams and running calls; false if the account has none with this key. */
  end(accountId: string, key: string): Promise<boolean>;
  /** Ends an account's sessions with one client that were used by one grant last. @param app its client, and the grant as tokens name it */
  endOfGrant(accountId: string, app: { clientId: string; grantId: string }): Promise<void>;
}

/** Describes a client; by its id alone if it was removed or may no longer be used. */
export type ClientSummaries = (clientId: string) => Promise<ClientSummary>;

/**
 * Creates the summaries of clients for lists of them. A client that is described by a document is shown as the document
 * was fetched last: a list has nothing fetched.
 */
export function createClientSummaries(
  provider: Provider,
  documents: Pick<ClientDocuments, 'recall'> | undefined,
): ClientSummaries {
  async function findRegistered(clientId: string): Promise<ReturnType<Client['metadata']> | undefined> {
    try {
      return (await provider.Client.find(clientId))?.metadata();
    } catch (error) {
      // Denied, waiting, or not what the settings allow by now: what it has left is there to be seen and ended all the same.
      if (error instanceof errors.OIDCProviderError) return undefined;
      throw error;
    }
  }

  return async (clientId) => {
    const metadata = clientId.startsWith('https://')
      ? await documents?.recall(clientId)
      : await findRegistered(clientId);
    return {
      clientId,
      name: String(metadata?.client_name ?? ''),
      ...(typeof metadata?.client_uri === 'string' ? { uri: metadata.client_uri } : undefined),
    };
  };
}
