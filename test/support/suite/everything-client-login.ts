import {
  type AuthorizationAgent,
  type Authorizer,
  type ClientContext,
  type CredentialStore,
  clientCredentialsAuthorizer,
  codeAuthorizer,
  enterpriseManagedAuthorizer,
  readPrivateKey,
  workloadIdentityAuthorizer,
} from '../../../src/client/index.ts';

const redirectUri = 'http://localhost:3000/callback';

/** Nobody reads it: the suite only looks whether it is the client's id. */
const clientIdMetadataUrl = 'https://conformance-test.local/client-metadata.json';

/** A person who consents to everything, and a browser that shows nothing. */
const agent: AuthorizationAgent = {
  redirectUri,
  registeredRedirectUris: [redirectUri],
  receive: async ({ url }) => {
    const { headers } = await fetch(url, { redirect: 'manual' });
    return new URL(headers.get('location') ?? '').searchParams;
  },
};

/** What the suite gives for a scenario. */
export type ScenarioContext = Record<string, unknown>;

type Login = (
  context: ClientContext,
  store: CredentialStore,
  text: (member: string) => string,
) => Authorizer | Promise<Authorizer>;

const withUser: Login = (context, store) => codeAuthorizer(context, { store, agent, clientIdMetadataUrl });

const withUserBoundToKey: Login = (context, store) =>
  codeAuthorizer(context, { store, agent, clientIdMetadataUrl, dpop: true });

const logins: Record<string, Login> = {
  'auth/pre-registration': (context, store, text) =>
    codeAuthorizer(context, {
      store,
      agent,
      given: { clientId: text('client_id'), clientSecret: text('client_secret') },
    }),
  'auth/client-credentials-basic': (context, store, text) =>
    clientCredentialsAuthorizer(context, {
      store,
      client: { clientId: text('client_id'), clientSecret: text('client_secret') },
    }),
  'auth/client-credentials-jwt': async (context, store, text) => {
    const algorithm = text('signing_algorithm');
    const privateKey = await readPrivateKey(text('private_key_pem'), { algorithm });
    return clientCredentialsAuthorizer(context, {
      store,
      client: { clientId: text('client_id'), privateKey },
    });
  },
  'auth/enterprise-managed-authorization': (context, store, text) =>
    enterpriseManagedAuthorizer(context, {
      store,
      client: { clientId: text('client_id'), clientSecret: text('client_secret') },
      identityProvider: {
        issuer: text('idp_issuer'),
        tokenEndpoint: text('idp_token_endpoint'),
        client: { clientId: text('idp_client_id'), tokenEndpointAuthMethod: 'none' },
      },
      subjectToken: () => ({ token: text('idp_id_token'), type: 'id_token' }),
    }),
  'auth/wif-jwt-bearer': (context, store, text) =>
    workloadIdentityAuthorizer(context, {
      store,
      clientId: text('client_id'),
      assertion: () => text('valid_jwt'),
    }),
  'auth/dpop': withUserBoundToKey,
  'auth/dpop-nonce': withUserBoundToKey,
};

/**
 * @param context where requests go through
 * @param store where the login is kept
 * @param scenario name of the scenario
 * @param given what the suite gives for it
 * @returns how a client logs in there
 */
export async function chooseAuthorizer(
  context: ClientContext,
  store: CredentialStore,
  scenario: string,
  given: ScenarioContext,
): Promise<Authorizer> {
  return (logins[scenario] ?? withUser)(context, store, (member) => String(given[member]));
}
