import type { SealedBox } from '../../crypto/sealed-box.ts';
import type { ClientStore } from '../../storage/clients.ts';
import type { Metadata } from '../client-metadata.ts';
import { openPayload, type SealedRow } from '../engine/stored-rows.ts';

/** Relation of a client to the operator: the operator's own client, a client with a similar name, or neither. */
export type OperatorRelation = 'operator' | 'namesake' | 'none';

/** Returns the relation of a client to the operator, by its id and its displayed name. */
export type OperatorRelationOf = (client: { clientId: string; name: string }) => Promise<OperatorRelation>;

/** Creates the look-up of a client's standing among the clients of the operator (T-060). */
export function createOperatorRelation(clients: ClientStore, box: SealedBox): OperatorRelationOf {
  return async ({ clientId, name }) => {
    const rows = await clients.listOfOperator();
    if (rows.some(({ id }) => id === clientId)) return 'operator';
    const glanced = glancedName(name);
    const nameOf = (row: SealedRow): string => String(openPayload<Metadata>(box, 'Client', row).client_name);
    const isLike = rows.some((row) => glancedName(nameOf(row)) === glanced);
    return glanced !== '' && isLike ? 'namesake' : 'none';
  };
}

/** Letters of other scripts, and digits, that look like Latin letters in the fonts of browsers (UTS #39, the commonest of its data). */
const lookalikes: Readonly<Record<string, string>> = {
  а: 'a',
  ɑ: 'a',
  α: 'a',
  в: 'b',
  β: 'b',
  с: 'c',
  ϲ: 'c',
  ԁ: 'd',
  е: 'e',
  ε: 'e',
  ɡ: 'g',
  һ: 'h',
  н: 'h',
  і: 'i',
  ι: 'i',
  ı: 'i',
  ј: 'j',
  к: 'k',
  κ: 'k',
  м: 'm',
  μ: 'm',
  п: 'n',
  ո: 'n',
  η: 'n',
  ν: 'v',
  о: 'o',
  ο: 'o',
  σ: 'o',
  р: 'p',
  ρ: 'p',
  ԛ: 'q',
  г: 'r',
  ѕ: 's',
  т: 't',
  τ: 't',
  υ: 'u',
  ս: 'u',
  ѵ: 'v',
  ԝ: 'w',
  ω: 'w',
  х: 'x',
  χ: 'x',
  у: 'y',
  γ: 'y',
  ʏ: 'y',
  0: 'o',
  1: 'l',
  i: 'l',
  '|': 'l',
  '!': 'l',
  5: 's',
  $: 's',
  3: 'e',
  '@': 'a',
};

/**
 * Returns what of a name stays when it is only glanced at: lower case, no marks, no blanks and signs, letters that look
 * alike made one. Two names with the same outcome can be taken for each other (T-060).
 * @param name any text
 */
export function glancedName(name: string): string {
  const letters = [...name.normalize('NFKD').toLowerCase().replace(/\p{M}/gu, '')];
  const once = letters
    .map((letter) => lookalikes[letter] ?? letter)
    .map((letter) => lookalikes[letter] ?? letter);
  return once
    .join('')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}
