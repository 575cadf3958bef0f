import { readFileSync } from 'node:fs';
import { readPrivateKey } from '../client/client-key.ts';
import type { ClientIdentity } from '../client/exchange.ts';
import type { UpstreamSettings } from './upstream-settings.ts';

/** Who this server is at an upstream, and what it proves that with; or the setting that is wrong, and why. */
export type Credentials = { identity: ClientIdentity } | { problem: string };

function readFile(setting: string, file: string): { text: string } | { problem: string } {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text === '' ? { problem: `${setting}: ${file} is empty` } : { text };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `${setting}: ${file} cannot be read${code ? ` (${code})` : ''}` };
  }
}

/** Reads what a client proves itself with, from the settings or from the files they name. Nothing of it is in a problem. */
export async function readCredentials(
  settings: Pick<UpstreamSettings, 'clientId' | 'clientSecret' | 'clientSecretFile' | 'clientKeyFile'>,
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
  if (clientSecretFile === undefined) return { identity: { clientId, clientSecret: String(clientSecret) } };
  const read = readFile('clientSecretFile', clientSecretFile);
  return 'problem' in read ? read : { identity: { clientId, clientSecret: read.text } };
}
