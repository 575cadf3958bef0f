import type { SealedBox } from '../../crypto/sealed-box.ts';
import { randomSecret } from '../../crypto/secret.ts';
import type { ClientStore } from '../../storage/clients.ts';
import { payloadContext } from '../engine/stored-names.ts';
import { hashClientSecret } from '../operator-clients/client-secret.ts';
import { checkOperatorClient, type OperatorClient, toMetadata } from '../operator-clients/operator-client.ts';
import { AdministrationRefused } from './administration-refused.ts';

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
 * Adds a client of the operator, with a random id unless one is given, and a random secret where its method needs one.
 * @param now epoch seconds
 * @throws AdministrationRefused naming every problem
 */
export async function addClient(
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
