import { type JsonText, readJsonText, sourceOf } from '../attacks/support/json-text.ts';
import type { Random } from '../flows/attacks/support/random.ts';

const names = [
  '',
  'a',
  'id',
  'jsonrpc',
  '__proto__',
  'toString',
  '0',
  '17',
  'é',
  '\u2028',
  '💥',
  'end',
  'rawJSON',
];
const escapes = [
  '\\u0041',
  '\\ud83d\\ude00',
  '\\ud83d',
  '\\ude00',
  '\\/',
  '\\b',
  '\\u0000',
  '\\u2028',
  '\\"',
  '\\\\',
];
const plain = ['a', ' ', 'é', '💥', '\u2028', '1e400', ': 1.0', '[-0', '{"', '}'];

const digits = (random: Random, most: number): string =>
  Array.from({ length: 1 + random.below(most) }, () => random.below(10)).join('');

/** The source text of any number: of any length, with a fraction, an exponent. */
function anyNumber(random: Random): string {
  const whole = random.once(3) ? '0' : `${1 + random.below(9)}${digits(random, random.one([1, 15, 19, 60]))}`;
  const fraction = random.once(3)
    ? `.${random.one(['', '', '000000'])}${digits(random, random.one([1, 3, 25]))}`
    : '';
  const exponent = random.once(4) ? `${random.one(['e', 'E', 'e+', 'E-'])}${digits(random, 3)}` : '';
  return `${random.once(3) ? '-' : ''}${whole}${fraction}${exponent}`;
}

function anyString(random: Random): string {
  const parts = Array.from({ length: random.below(5) }, () =>
    random.once(2) ? random.one(escapes) : JSON.stringify(random.one(plain)).slice(1, -1),
  );
  return `"${parts.join('')}"`;
}

function anyTree(random: Random, depth: number): JsonText {
  const kind = random.below(depth > 4 ? 6 : 9);
  if (kind < 3) return anyNumber(random);
  if (kind < 5) return anyString(random);
  if (kind === 5) return random.one(['true', 'false', 'null']);
  const size = random.below(5);
  if (kind === 6) return { items: Array.from({ length: size }, () => anyTree(random, depth + 1)) };
  // Of members that repeat, readers take one or the other.
  const members = new Map<string, [string, JsonText]>();
  for (let count = 0; count < size; count++) {
    const name = random.once(2) ? JSON.stringify(random.one(names)) : anyString(random);
    // V8 13.6 reads a name that is one escape as a backslash, where such an object had a name of one backslash before.
    if (name.startsWith('"\\') && (JSON.parse(name) as string).length === 1) continue;
    members.set(JSON.parse(name) as string, [name, anyTree(random, depth + 1)]);
  }
  return { members: [...members.values()] };
}

/** The source text of any JSON document, without blanks. */
export function anyDocument(random: Random): string {
  return sourceOf({ items: [anyTree(random, 0), anyTree(random, 0)] });
}

/**
 * Writes a document so that two texts are the same if they hold the same: numbers as their digits stand there, characters
 * however they were escaped, members in one order.
 */
export function sameText(source: string): string {
  return sourceOf(normal(readJsonText(source)));
}

function normal(tree: JsonText): JsonText {
  if (typeof tree === 'string') return tree.startsWith('"') ? JSON.stringify(JSON.parse(tree)) : tree;
  if ('items' in tree) return { items: tree.items.map(normal) };
  const members = tree.members.map(
    ([name, member]) => [JSON.stringify(JSON.parse(name)), normal(member)] as [string, JsonText],
  );
  return { members: members.sort(([one], [other]) => (one < other ? -1 : 1)) };
}
