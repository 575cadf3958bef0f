import { createTextSeal, type SealedBox } from '../../crypto/sealed-box.ts';
import { randomSecret } from '../../crypto/secret.ts';
import type {
  ClientOrigin,
  ClientStatus,
  ClientStore,
  InvitationStore,
  ListedClient,
  ListedDocument,
} from '../../storage/clients.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Metadata } from '../client-metadata.ts';
import { invitationId, openPayload, payloadContext, type SealedRow } from '../engine/stored-rows.ts';
import { hashClientSecret } from '../operator-clients/client-secret.ts';
import { checkOperatorClient, type OperatorClient, toMetadata } from '../operator-clients/operator-client.ts';
import { createSealedClientIds } from '../registration/sealed-client-ids.ts';
import { AdministrationRefused } from './administration-refused.ts';

const inSettings =
  'This client stands in the settings: change clients.preRegistered there, and start the server again.';

/**
 * Operations on clients.
 * @param now epoch seconds
 */
export function administerClients(
  { clients, clientDocuments, invitations }: Pick<Storage, 'clients' | 'clientDocuments' | 'invitations'>,
  box: SealedBox,
  now: () => number,
) {
  const sealedIds = createSealedClientIds(createTextSeal(box), now);

  async function showAll(): Promise<ShownClient[]> {
    const registered = (await clients.list()).map((row) => showRegistered(box, row));
    const documents = (await clientDocuments.list()).map((row) => showDocument(box, row));
    return [...registered, ...documents];
  }

  async function refuseSettings(clientId: string): Promise<void> {
    if ((await clients.find(clientId))?.origin === 'settings')
      throw new AdministrationRefused('not_possible', inSettings);
  }

  async function decide(clientId: string, status: 'approved' | 'denied'): Promise<void> {
    await refuseSettings(clientId);
    if (await clients.decide(clientId, status, now())) return;
    if ((await clientDocuments.find(clientId)) !== undefined)
      throw new AdministrationRefused(
        'not_possible',
        'This client is known by its document: name its host in clients.metadataDocuments.allowedHosts or deniedHosts.',
      );
    throw new AdministrationRefused(
      'not_found',
      'There is no client with this id. The list of clients has their ids.',
    );
  }

  return {
    /** Adds a client; its secret is given once. @throws AdministrationRefused naming every problem */
    add: (client: ClientToAdd): Promise<AddedClient> => addClient(clients, box, now, client),
    /** Returns all clients, registered ones first, oldest first, then those known by documents. */
    async list(): Promise<KnownClient[]> {
      return (await showAll()).map(({ metadata: _metadata, ...client }) => client);
    },
    /**
     * Returns a client with all its metadata.
     * @throws AdministrationRefused if there is none
     */
    async show(clientId: string): Promise<ShownClient> {
      const client = (await showAll()).find((one) => one.clientId === clientId);
      if (!client)
        throw new AdministrationRefused(
          'not_found',
          'There is no client with this id. The list of clients has their ids.',
        );
      return client;
    },
    /**
     * Lets a client in that waits, or was denied.
     * @throws AdministrationRefused if there is none to decide about
     */
    approve: (clientId: string): Promise<void> => decide(clientId, 'approved'),
    /**
     * Keeps a client out; its grants and tokens end.
     * @throws AdministrationRefused if there is none to decide about
     */
    deny: (clientId: string): Promise<void> => decide(clientId, 'denied'),
    /** Makes an invitation to register; its token is given once. @throws AdministrationRefused for bad numbers */
    invite: (wanted: { uses: number; lifeSeconds: number }): Promise<IssuedInvitation> =>
      inviteClient(invitations, wanted, now()),
    /**
     * Removes a client with its grants and tokens.
     * @throws AdministrationRefused if there is none, or if it stands in the settings and would come back
     */
    async remove(clientId: string): Promise<void> {
      await refuseSettings(clientId);
      // An id that holds its registration is good by itself: it has to be remembered that it is not.
      const rememberAt = sealedIds.open(clientId) === undefined ? undefined : now();
      if (!(await clients.remove(clientId, rememberAt)))
        throw new AdministrationRefused(
          'not_found',
          'There is no client with this id. The list of clients has their ids.',
        );
    },
  };
}

/** A client to be added: a public one that asks people for codes, unless something else is said. */
export type ClientToAdd = Pick<OperatorClient, 'name'> &
  Partial<Omit<OperatorClient, 'name' | 'secretHash' | 'jwks'>> & {
    /** Its public keys, as they were read. */
    jwks?: unknown;
  };

/** A client that was added. Its secret is shown here and never again: only its hash is kept. */
export interface AddedClient {
  clientId: string;
  clientSecret?: string;
}

/**
 * Adds a client of the operator, with a random id unless one is given, and a random secret if its method needs one.
 * @param now epoch seconds
 * @throws AdministrationRefused naming every problem
 */
async function addClient(
  clients: ClientStore,
  box: SealedBox,
  now: () => number,
  wanted: ClientToAdd,
): Promise<AddedClient> {
  const { authMethod = 'none', clientId = `client_${randomSecret(18)}` } = wanted;
  // No leading hyphen: ids and secrets are passed to command lines.
  const secret = authMethod.startsWith('client_secret_') ? `secret_${randomSecret(32)}` : undefined;
  const client: OperatorClient = {
    redirectUris: [],
    grantTypes: ['authorization_code', 'refresh_token'],
    ...wanted,
    jwks: wanted.jwks as OperatorClient['jwks'],
    authMethod,
    clientId,
    ...(secret === undefined ? {} : { secretHash: hashClientSecret(secret) }),
  };
  const problems = checkOperatorClient(client);
  if (problems.length > 0) throw new AdministrationRefused('invalid', problems.join('\n'));
  const payload = box.seal(JSON.stringify(toMetadata(client)), payloadContext('Client', clientId));
  if (!(await clients.add({ id: clientId, payload, createdAt: now(), origin: 'operator' })))
    throw new AdministrationRefused('already_exists', 'There is a client with this id already.');
  return { clientId, ...(secret === undefined ? {} : { clientSecret: secret }) };
}

/** An invitation to register clients. The token is shown here and never again: only its hash is kept. */
export interface IssuedInvitation {
  /** The initial access token (RFC 7591 section 3). */
  token: string;
  uses: number;
  /** Epoch seconds. */
  expiresAt: number;
}

const limits = { uses: 10_000, seconds: 365 * 86_400 } as const;

/**
 * Makes an invitation.
 * @param uses how many clients may be registered with it
 * @param lifeSeconds how long it is good
 * @param now epoch seconds
 * @throws AdministrationRefused if either is out of range
 */
async function inviteClient(
  invitations: InvitationStore,
  { uses, lifeSeconds }: { uses: number; lifeSeconds: number },
  now: number,
): Promise<IssuedInvitation> {
  if (!Number.isInteger(uses) || uses < 1 || uses > limits.uses)
    throw new AdministrationRefused('invalid', `An invitation is for 1 to ${limits.uses} clients.`);
  if (!Number.isInteger(lifeSeconds) || lifeSeconds < 1 || lifeSeconds > limits.seconds)
    throw new AdministrationRefused(
      'invalid',
      'An invitation is good for a second at least and a year at most.',
    );
  // No leading hyphen: tokens are passed to command lines.
  const token = `invite_${randomSecret(32)}`;
  const expiresAt = now + lifeSeconds;
  await invitations.add({ id: invitationId(token), usesLeft: uses, createdAt: now, expiresAt });
  return { token, uses, expiresAt };
}

/** A client as an operator sees it. What it says about itself is as it said it. */
export interface KnownClient {
  clientId: string;
  /** Origin of the client: its own registration, the operator's command or settings, or the document at its id. */
  kind: ClientOrigin | 'document';
  /** True if it may be used. */
  status: ClientStatus;
  name: string;
  redirectUris: string[];
  /** Time of its registration, or of the last fetch of its document, epoch seconds. */
  createdAt: number;
  /** Time of the last new grant or redeemed token, epoch seconds; absent if the client never got a grant. */
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
function showRegistered(box: SealedBox, row: ListedClient): ShownClient {
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
function showDocument(box: SealedBox, row: ListedDocument): ShownClient {
  const { url: clientId, payload, fetchedAt: createdAt, usedAt, grants } = row;
  const used = usedAt === undefined ? {} : { usedAt };
  const said = describe(open(box, 'ClientDocument', { id: clientId, payload }));
  return { clientId, kind: 'document', status: 'approved', createdAt, ...used, grants, ...said };
}
