import type { TextSeal } from '../../crypto/sealed-box.ts';
import { clientLifetimes } from '../../storage/clients.ts';
import type { Metadata, MetadataRefusal } from '../client-metadata.ts';

const prefix = 'sealed_';

/** What the seal is tied to: nothing else that is sealed here can be passed off as a client. */
const context = 'SealedClientId';

/** Longest client id, in characters: it stands in URLs, where proxies take lines of 8 KB, and twice in Basic headers. */
const maxIdLength = 2000;

/** Members that decide nothing here and are shown nowhere; an id does without them. */
const decoration = new Set(['contacts', 'tos_uri', 'policy_uri', 'software_id', 'software_version']);

/** What is sealed: when it was made, the metadata, and the secret of a client that has one. */
interface SealedClient {
  at: number;
  metadata: Metadata;
  secret?: string;
}

/**
 * Client ids that are the registration: the metadata of the client, sealed, so that nothing is stored for a client that
 * nobody consented to. They cannot be made, read or changed without the keys of this installation, and end with
 * `clientLifetimes.neverUsedSeconds` unless a consent stores them.
 */
export interface SealedClientIds {
  /** Whether an id has the form of ours; {@link open} says whether it is good. */
  isSealed(clientId: string): boolean;
  /** Leaves out of the metadata what an id does without; refuses what does not fit into one. */
  fit(metadata: Metadata): { metadata: Metadata } | { refusal: MetadataRefusal };
  /** Makes the id of a client. The secret is in it too: it has to be known again, and is as safe as in the database. */
  make(metadata: Metadata, secret: string | undefined): string;
  /** Gives the metadata of an id, as the engine takes it; undefined where it is not good, or no longer. */
  open(clientId: string): (Metadata & { client_id: string; client_id_issued_at: number }) | undefined;
}

/**
 * Creates the making and reading of client ids that are their own registration.
 * @param seal of this installation
 * @param now epoch seconds
 */
export function createSealedClientIds(seal: TextSeal, now: () => number): SealedClientIds {
  function make(metadata: Metadata, secret: string | undefined): string {
    const client: SealedClient = { at: now(), metadata, ...(secret === undefined ? undefined : { secret }) };
    return prefix + seal.seal(JSON.stringify(client), context);
  }

  return {
    isSealed: (clientId) => clientId.startsWith(prefix),
    make,
    fit(metadata) {
      const kept = Object.fromEntries(Object.entries(metadata).filter(([name]) => !decoration.has(name)));
      // Of the length of a real secret.
      if (make(kept, '*'.repeat(50)).length <= maxIdLength) return { metadata: kept };
      const description =
        'the metadata is too long for this server: register fewer or shorter redirect_uris, and a shorter client_name';
      return { refusal: { status: 400, error: 'invalid_client_metadata', description } };
    },
    open(clientId) {
      if (!clientId.startsWith(prefix) || clientId.length > maxIdLength) return undefined;
      const text = seal.open(clientId.slice(prefix.length), context);
      if (text === undefined) return undefined;
      const { at, metadata, secret } = JSON.parse(text) as SealedClient;
      if (at + clientLifetimes.neverUsedSeconds < now()) return undefined;
      return {
        ...metadata,
        client_id: clientId,
        client_id_issued_at: at,
        ...(secret === undefined ? undefined : { client_secret: secret, client_secret_expires_at: 0 }),
      };
    },
  };
}
