import {
  type ClientContext,
  ClientError,
  clientOf,
  credentialKey,
  revokeCredential,
} from '../../client/index.ts';
import type { KeptLogin, TokenFile } from '../../client/node/index.ts';

/** What became of a login: ended by its issuer, or only forgotten here, and why. */
export interface Ending {
  server: string;
  revoked: boolean;
  why: string | null;
}

/** Refusals after which the issuer knows nothing of the login any more, or never will. */
const final = new Set<ClientError['reason']>(['token_refused', 'client_unknown', 'bad_key']);

/**
 * Ends a login at its issuer and forgets it, renewed or not by another process meanwhile. Where the issuer says no, it
 * is forgotten all the same; where no answer comes, it is kept, so that it can be ended later.
 * @param login what should end
 * @param store where it is kept
 * @param options `local`: only forget it; `context`: where the request goes through
 * @throws ClientError where no answer came
 * @see RFC 7009 section 2.1
 */
export function endLogin(
  { server, credential: listed }: KeptLogin,
  store: TokenFile,
  options: { local?: boolean | undefined; context: ClientContext },
): Promise<Ending> {
  return store.exclusively(credentialKey(listed), async () => {
    const held = await store.findCredential(server);
    const isSame = held !== undefined && credentialKey(held) === credentialKey(listed);
    return endHeld({ server, credential: isSame ? held : listed }, store, options);
  });
}

async function endHeld(
  { server, credential }: KeptLogin,
  store: TokenFile,
  { local, context }: { local?: boolean | undefined; context: ClientContext },
): Promise<Ending> {
  const forget = async (revoked: boolean, why: string | null): Promise<Ending> => {
    await store.forgetCredential(credential);
    return { server, revoked, why };
  };
  if (local) return forget(false, 'you asked for it to be forgotten here only');
  const { issuer } = credential.authorizationServer;
  const holder = clientOf(credential, await store.findRegistration(issuer, credential.clientId));
  try {
    const revoked = await revokeCredential(context, credential, holder);
    return await forget(revoked, revoked ? null : `${issuer} has no way to end a login before its time`);
  } catch (error) {
    if (error instanceof ClientError && final.has(error.reason)) return forget(false, error.message);
    throw error;
  }
}

/** A client that is no longer known here. */
export interface ForgottenClient {
  issuer: string;
  clientId: string;
}

/**
 * Drops the clients of issuers at which there is no login.
 * @param store where the clients are kept
 * @returns those that were dropped
 */
export async function forgetClients(store: TokenFile): Promise<ForgottenClient[]> {
  const inUse = new Set(
    (await store.listLogins()).map(({ credential }) => credential.authorizationServer.issuer),
  );
  const forgotten: ForgottenClient[] = [];
  for (const { issuer, clientId } of await store.listRegistrations()) {
    if (inUse.has(issuer)) continue;
    await store.forgetRegistration(issuer, clientId);
    forgotten.push({ issuer, clientId });
  }
  return forgotten;
}
