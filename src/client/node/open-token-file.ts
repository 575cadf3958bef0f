import { ClientError } from '../client-error.ts';
import { gatehouseHome } from './home.ts';
import { systemKeychain } from './keychain/system-keychain.ts';
import { createTokenFile, type TokenFile } from './token-file.ts';
import type { Sealing } from './token-file-seal.ts';

/** Every way to keep logins. */
export const sealings = ['auto', 'keychain', 'plain'] as const satisfies readonly Sealing[];

/**
 * Opens the logins of this user: in `$GATEHOUSE_HOME`, kept as `$GATEHOUSE_STORE` says.
 * @param env environment variables
 * @param chosen how they are kept, before `$GATEHOUSE_STORE`; `auto` unless told (CL-13)
 * @throws ClientError `unknown_store` where `$GATEHOUSE_STORE` names no way to keep them
 */
export function openTokenFile(
  env: Readonly<Record<string, string | undefined>>,
  chosen?: Sealing,
): TokenFile {
  const named = chosen ?? (env.GATEHOUSE_STORE || 'auto');
  const sealing = sealings.find((one) => one === named);
  if (sealing === undefined)
    throw new ClientError('unknown_store', `GATEHOUSE_STORE has to be one of ${sealings.join(', ')}.`);
  return createTokenFile(gatehouseHome(env), { sealing, keychain: systemKeychain(process.platform, env) });
}
