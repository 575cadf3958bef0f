import { readFileSync } from 'node:fs';
import { readPrivateKey } from '../client/client-key.ts';
import type { ClientIdentity } from '../client/oauth-client.ts';
import type { UpstreamSettings } from './upstream-settings.ts';

/** Who this server is at an upstream, and what it proves that with; or the setting that is wrong, and why. */
export type Credentials = { identity: ClientIdentity } | { problem: string };

/** Variables of the environment of this process, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

function readFile(setting: string, file: string): { text: string } | { problem: string } {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text === '' ? { problem: `${setting}: ${file} is empty` } : { text };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `${setting}: ${file} cannot be read${code ? ` (${code})` : ''}` };
  }
}

function readSecret(
  secret: UpstreamSettings['clientSecret'],
  environment: Environment,
): { text: string } | { problem: string } {
  if (typeof secret !== 'object') return { text: String(secret) };
  const text = Object.hasOwn(environment, secret.env) ? environment[secret.env]?.trim() : undefined;
  return text ? { text } : { problem: `clientSecret: the environment has no ${secret.env}: set it` };
}

/**
 * Reads what a client proves itself with, from the settings, or from the file or variable they name. Nothing of it is in
 * a problem.
 * @param environment of this process
 */
export async function readCredentials(
  settings: Pick<UpstreamSettings, 'clientId' | 'clientSecret' | 'clientSecretFile' | 'clientKeyFile'>,
  environment: Environment,
): Promise<Credentials> {
  const { clientId, clientSecret, clientSecretFile, clientKeyFile } = settings;
  if (clientKeyFile !== undefined) {
    const read = readFile('clientKeyFile', clientKeyFile);
    if ('problem' in read) return read;
    try {
      const privateKey = await readPrivateKey(read.text);
      return { identity: { clientId, privateKey, tokenEndpointAuthMethod: 'private_key_jwt' } };
    } catch (error) {
      return { problem: `clientKeyFile: ${clientKeyFile}: ${(error as Error).message}` };
    }
  }
  const read =
    clientSecretFile === undefined
      ? readSecret(clientSecret, environment)
      : readFile('clientSecretFile', clientSecretFile);
  return 'problem' in read ? read : { identity: { clientId, clientSecret: read.text } };
}
