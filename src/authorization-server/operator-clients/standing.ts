import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { ClientStore } from '../../storage/clients.ts';
import type { Metadata } from '../client-metadata.ts';
import { openPayload, type SealedRow } from '../engine/stored-names.ts';
import { glancedName } from './name-likeness.ts';

/** What the operator has to do with a client: it is theirs, it bears the name of one that is, or nothing. */
export type Standing = 'operator' | 'namesake' | 'none';

/** Says what the operator has to do with a client, by its id and the name it goes by. */
export type StandingOf = (client: { clientId: string; name: string }) => Promise<Standing>;

/** Creates the look-up of a client's standing among the clients of the operator (T-060). */
export function createStanding(clients: ClientStore, box: SealedBox): StandingOf {
  return async ({ clientId, name }) => {
    const rows = await clients.listOfOperator();
    if (rows.some(({ id }) => id === clientId)) return 'operator';
    const glanced = glancedName(name);
    const nameOf = (row: SealedRow): string => String(openPayload<Metadata>(box, 'Client', row).client_name);
    const isLike = rows.some((row) => glancedName(nameOf(row)) === glanced);
    return glanced !== '' && isLike ? 'namesake' : 'none';
  };
}
