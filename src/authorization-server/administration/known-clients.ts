import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { ClientOrigin, ClientStatus, ListedClient, ListedDocument } from '../../storage/clients.ts';
import type { Metadata } from '../client-metadata.ts';
import { openPayload, type SealedRow } from '../engine/stored-names.ts';

/** A client as an operator sees it. What it says about itself is as it said it. */
export interface KnownClient {
  clientId: string;
  /** How it became known: by itself, by the operator's command or settings, or by the document its id is the URL of. */
  kind: ClientOrigin | 'document';
  /** Whether it may be used. */
  status: ClientStatus;
  name: string;
  redirectUris: string[];
  /** When it registered, or its document was fetched, epoch seconds. */
  createdAt: number;
  /** When a grant of it was made or a token redeemed last, epoch seconds; absent where it never got a grant. */
  usedAt?: number;
  /** Consents that have not ended. */
  grants: number;
}

/** A client with everything it says about itself, but its secrets. */
export interface ShownClient extends KnownClient {
  metadata: Metadata;
}

function open(box: SealedBox, kind: string, row: SealedRow): Metadata {
  const { client_secret: _secret, ...metadata } = openPayload<Metadata>(box, kind, row);
  return metadata;
}

function describe(metadata: Metadata): Pick<KnownClient, 'name' | 'redirectUris'> & { metadata: Metadata } {
  return {
    name: String(metadata.client_name ?? ''),
    redirectUris: (metadata.redirect_uris ?? []) as string[],
    metadata,
  };
}

/** @returns a registered client as an operator sees it */
export function showRegistered(box: SealedBox, row: ListedClient): ShownClient {
  const { id: clientId, payload, origin: kind, status, createdAt, usedAt, grants } = row;
  const used = usedAt === undefined ? {} : { usedAt };
  return {
    clientId,
    kind,
    status,
    createdAt,
    ...used,
    grants,
    ...describe(open(box, 'Client', { id: clientId, payload })),
  };
}

/** @returns a client that is known by its document as an operator sees it */
export function showDocument(box: SealedBox, row: ListedDocument): ShownClient {
  const { url: clientId, payload, fetchedAt: createdAt, usedAt, grants } = row;
  const used = usedAt === undefined ? {} : { usedAt };
  const said = describe(open(box, 'ClientDocument', { id: clientId, payload }));
  return { clientId, kind: 'document', status: 'approved', createdAt, ...used, grants, ...said };
}
