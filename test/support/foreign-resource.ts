import { expect } from 'vitest';
import { type RunningGatehouse, startGatehouse } from './gatehouse.ts';
import { register } from './oauth.ts';

/** A resource that lives elsewhere, with JWTs unless a test chooses otherwise. */
export const files = {
  resource: 'https://files.example.com/mcp',
  name: 'Files',
  scopes: { 'files:read': 'Read your files.', 'files:write': 'Change your files.' },
} as const;

/** A confidential client, as it proves who it is in a form. */
export interface ConfidentialClient extends Record<string, string> {
  client_id: string;
  client_secret: string;
}

/** Registers a confidential client. */
export async function registerConfidential(url: string): Promise<ConfidentialClient> {
  const client = await register(url, { token_endpoint_auth_method: 'client_secret_post' });
  expect(client.client_secret).toEqual(expect.any(String));
  return { client_id: client.client_id, client_secret: String(client.client_secret) };
}

/**
 * Starts a gatehouse with {@link files} and a client that is its server, which the settings name: it is registered in a
 * first run on the same folder.
 */
export async function startWithFiles(
  folder: string,
  chosen: { resource?: object; settings?: object } = {},
): Promise<{ gatehouse: RunningGatehouse; fileServer: ConfidentialClient }> {
  const first = await startGatehouse({ folder });
  const fileServer = await registerConfidential(first.url);
  const { port } = new URL(first.listensAt);
  await first.stop();
  const gatehouse = await startGatehouse({
    folder,
    port: Number(port),
    resources: [{ ...files, introspectedBy: [fileServer.client_id], ...chosen.resource }],
    ...chosen.settings,
  });
  return { gatehouse, fileServer };
}
