import { quote } from '../../client/quote.ts';
import { ask } from '../ask.ts';
import type { Check } from '../check.ts';
import { readDocument } from '../document.ts';
import { fail, pass, skip, warn } from '../judgements.ts';
import { judgingMetadata } from './judging.ts';

/** Members that only a private key has (RFC 7518 sections 6.2.2 and 6.3.2). */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth'];

/** The keys are those that verify tokens. */
const keys: Check = {
  id: 'AS-KEYS',
  section: 'issuer',
  title: 'The published keys load, are public, and can be told apart',
  clause: 'RFC 7517 sections 4.5, 5 and 9.2; RFC 8725 section 3.1',
  needs: ['AS-FOUND'],
  judge: judgingMetadata(async ({ members }, subject) => {
    const place = members.jwks_uri;
    if (place === undefined) return skip('There is no jwks_uri: tokens are not verified by signature.');
    if (typeof place !== 'string')
      return fail(`"jwks_uri" is ${quote(place)}.`, 'Publish the absolute URL of the key set.');
    const answer = await ask(subject, place, { headers: { accept: 'application/json' } });
    const published = readDocument(answer);
    const { evidence } = answer;
    const list = published.kind === 'document' ? published.members.keys : undefined;
    if (!Array.isArray(list))
      return fail(
        `${place} holds no key set: ${published.kind === 'unusable' ? published.why : published.kind === 'absent' ? 'there is nothing' : '"keys" is missing'}.`,
        'Serve {"keys": [...]} there, as application/json.',
        { evidence },
      );
    const entries = list.map((key) => Object(key) as Record<string, unknown>);
    const name = (key: Record<string, unknown>): string => quote(key.kid ?? 'without kid');
    for (const key of entries) {
      const secret = key.kty === 'oct' ? 'k' : privateMembers.find((member) => key[member] !== undefined);
      if (secret !== undefined)
        return fail(
          `The key ${name(key)} has the member "${secret}": it is ${key.kty === 'oct' ? 'a shared secret' : 'private'}, and everybody can sign tokens with it.`,
          'Replace this key now, and publish public members only.',
          { evidence },
        );
      if (/^(?:none|HS\d+)$/i.test(String(key.alg ?? '')))
        return fail(
          `The key ${name(key)} has "alg": ${quote(key.alg)}, which anybody can forge.`,
          'Sign with ES256, EdDSA or RS256.',
          { evidence },
        );
    }
    const ids = entries.map(({ kid }) => kid);
    if (entries.length > 1 && (ids.includes(undefined) || new Set(ids).size < ids.length))
      return warn(
        'Of several keys some have no "kid", or share one: verifiers have to guess.',
        'Give each key a "kid" of its own.',
        { evidence },
      );
    return pass(
      `${entries.length} public key(s): ${entries.map((key) => `${name(key)} ${quote(key.alg ?? key.kty)}`).join(', ')}.`,
      { evidence },
    );
  }),
};

/** Checks of the key set. */
export const keyChecks: readonly Check[] = [keys];
