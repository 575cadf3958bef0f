import { TokenFileError } from '../../client/node/private-file.ts';
import { createTokenFile } from '../../client/node/token-file.ts';
import type { Credential } from '../../client/stores/credential-store.ts';
import { canonicalResource } from '../../oauth/resource-indicator.ts';
import type { Check } from '../check.ts';
import { pass, warn } from '../judgements.ts';
import { type Machine, storeFolder } from './machine.ts';

/** The login of a folder; undefined if there is none, or none that can be opened: MACHINE-STORE says that. */
async function kept(folder: string, server: string): Promise<Credential | undefined> {
  try {
    return await createTokenFile(folder).findCredential(server);
  } catch (error) {
    if (error instanceof TokenFileError) return undefined;
    throw error;
  }
}

/**
 * Returns true if this machine keeps two logins to the server, of which one program uses the one and another the other:
 * `$GATEHOUSE_HOME` is set in one shell and not in the next.
 * @param machine the machine
 */
export function twoStoresCheck(machine: Machine): Check {
  return {
    id: 'MACHINE-TWO-STORES',
    section: 'machine',
    title: 'One login to the server is kept in one place',
    clause: 'RFC 9700 section 4.14',
    async judge({ url }) {
      const chosen = storeFolder(machine);
      const usual = storeFolder({ ...machine, env: {} });
      if (chosen === usual) return pass(`$GATEHOUSE_HOME is not set; all logins are in ${usual}.`);
      const server = canonicalResource(url) ?? url;
      const [here, there] = await Promise.all([chosen, usual].map((folder) => kept(folder, server)));
      if (here === undefined || there === undefined || here.accessToken === there.accessToken)
        return pass(
          `Logins are read from ${chosen} ($GATEHOUSE_HOME); ${usual} holds no other one to this server.`,
        );
      return warn(
        `${chosen} ($GATEHOUSE_HOME) and ${usual} hold different logins to this server.`,
        `Keep one: GATEHOUSE_HOME=${usual} gatehouse logout ${url}, or unset GATEHOUSE_HOME everywhere.`,
      );
    },
  };
}
