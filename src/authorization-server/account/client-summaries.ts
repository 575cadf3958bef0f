import type Provider from 'oidc-provider';
import type { Client } from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { ClientDocuments } from '../client-documents/client-documents.ts';
import type { ClientSummary } from '../views/client-summary.ts';

/** Says what is known of a client; its id alone where it was removed or may not be used any more. */
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
