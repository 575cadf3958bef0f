import { redirectUri } from './oauth.ts';

/** A registration with what manages it. */
export interface ManagedClient extends Record<string, unknown> {
  client_id: string;
  registration_access_token: string;
  registration_client_uri: string;
}

/** Posts a registration. */
export function postRegistration(
  url: string,
  metadata: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ client_name: 'A test client', redirect_uris: [redirectUri], ...metadata }),
  });
}

/** Asks the place where a registration is managed. */
export function manage(
  { registration_client_uri: url, registration_access_token: token }: ManagedClient,
  method: 'GET' | 'PUT' | 'DELETE',
  body?: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
