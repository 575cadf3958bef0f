import { quote } from '../../client/quote.ts';
import { authorizationServerMetadataUrls } from '../../oauth/well-known.ts';
import { ask, describeAnswer } from '../ask.ts';
import { type Check, fail, pass, skip, unknown, warn } from '../check.ts';
import { mayRead } from '../cross-origin.ts';
import { quoteOrMissing, readDocument } from '../document.ts';
import { anonymousInitialize, challengedMetadata, firstRefusal } from '../reach/anonymous.ts';
import { browserOrigin } from '../requests.ts';
import type { Subject } from '../subject.ts';
import {
  describePlace,
  type ResourcePlace,
  resourceDocument,
  resourcePlaces,
  wellKnownHints,
} from './places.ts';

/** Fact: if the origin publishes authorization server metadata, as servers of 2025-03-26 do. */
export async function originHasMetadata(subject: Subject): Promise<boolean> {
  for (const url of authorizationServerMetadataUrls(new URL(subject.url).origin))
    if (readDocument(await ask(subject, url)).kind === 'document') return true;
  return false;
}

/** Returns true if the endpoint itself fails with the same status: then the metadata is not the problem (FA-62). */
async function isRefusedEverywhere(subject: Subject, bad: readonly ResourcePlace[]): Promise<boolean> {
  const endpoint = await subject.fact(anonymousInitialize);
  if (endpoint.kind !== 'answered' || endpoint.status < 400 || endpoint.status === 401) return false;
  return bad.every(({ answer }) => answer.kind === 'answered' && answer.status === endpoint.status);
}

/** Checks that the response is a document. */
const document: Check = {
  id: 'PRM-DOCUMENT',
  section: 'resource',
  title: 'The well-known places of the protected resource hold a JSON document or nothing',
  clause: 'RFC 9728 section 3.2',
  needs: ['REACH-ANSWER'],
  async judge(subject) {
    const places = await subject.fact(resourcePlaces);
    const bad = places.filter(({ published }) => published.kind === 'unusable');
    const all = places.map(describePlace).join('; ');
    const slips = places.filter(({ published }) => published.kind === 'document' && published.slip);
    if (bad.length === 0 && slips.length > 0)
      return warn(
        `${slips.map(describePlace).join('; ')}. Clients that do not expect it stop there.`,
        'Save the document as UTF-8 without a byte order mark.',
      );
    if (bad.length === 0) return pass(`${all}.`);
    if (await isRefusedEverywhere(subject, bad))
      return skip(`${bad.map(describePlace).join('; ')}. The endpoint answers in the same way.`, {
        because: 'CHALLENGE-STATUS',
      });
    const firstDocument = places.findIndex(({ published }) => published.kind === 'document');
    const firstBad = places.findIndex(({ published }) => published.kind === 'unusable');
    if (firstDocument !== -1 && firstDocument < firstBad)
      return pass(`${all}. Clients find the document before they come to the page.`);
    return fail(
      `${bad.map(describePlace).join('; ')}.`,
      'Serve the document there with status 200 and Content-Type: application/json, without a login in front of it; where there is none, answer 404.',
      { hints: wellKnownHints },
    );
  },
};

/** Checks that there is metadata. */
const found: Check = {
  id: 'PRM-FOUND',
  section: 'resource',
  title: 'The server publishes protected resource metadata where clients look for it',
  clause: 'RFC 9728 section 3.1; MCP authorization "Authorization Server Discovery"',
  needs: ['PRM-DOCUMENT'],
  async judge(subject) {
    const places = await subject.fact(resourcePlaces);
    const all = places.map(describePlace).join('; ');
    const taken = await subject.fact(resourceDocument);
    if (taken) return pass(`It is at ${taken.place.url}. Asked: ${all}.`);
    const publish = `Publish it at ${places[0]?.url ?? 'its well-known place'}, and name that URL in the challenge.`;
    if (await subject.fact(originHasMetadata))
      return warn(
        `There is none (${all}), but the origin has authorization server metadata, as in 2025-03-26. Only clients that still look there can log in.`,
        publish,
        { hints: wellKnownHints },
      );
    if ((await subject.fact(firstRefusal)) === undefined)
      return skip(`There is none (${all}), and the server asks nobody for a token.`);
    return fail(`There is none: ${all}. Clients cannot find out where to log in.`, publish, {
      hints: wellKnownHints,
    });
  },
};

/** Checks that the document is at the URL of the challenge. */
const linked: Check = {
  id: 'PRM-LINK',
  section: 'resource',
  title: 'The metadata is where the challenge says',
  clause: 'RFC 9728 section 5.1',
  needs: ['PRM-FOUND', 'CHALLENGE-METADATA'],
  async judge(subject) {
    const refusal = await subject.fact(firstRefusal);
    const challenged = refusal && challengedMetadata(refusal);
    if (challenged === undefined) return skip('The challenge names no place.');
    const place = (await subject.fact(resourcePlaces)).find(({ url }) => url === challenged);
    if (place?.published.kind === 'document') return pass(`${quote(challenged)} holds it.`);
    return fail(
      `The challenge names ${quote(challenged)}, which holds no document: ${place ? describeAnswer(place.answer) : 'not asked'}. Many clients ask no other place.`,
      'Correct resource_metadata in the challenge, or publish the document there.',
    );
  },
};

/** Checks that all locations have the same content. */
const agree: Check = {
  id: 'PRM-AGREE',
  section: 'resource',
  title: 'The metadata says the same at every place',
  clause: 'RFC 9728 section 3.1; consistency',
  needs: ['PRM-FOUND'],
  async judge(subject) {
    const taken = await subject.fact(resourceDocument);
    if (!taken) return skip('There is no document.');
    const others = (await subject.fact(resourcePlaces)).flatMap(({ url, named, published }) =>
      published.kind === 'document' && url !== taken.place.url
        ? [{ url, named, members: published.members }]
        : [],
    );
    // The document at the root is that of the origin, which may be a resource of its own.
    const comparable = others.filter(
      ({ named, members }) => named !== 'at the root' || members.resource === taken.members.resource,
    );
    if (comparable.length === 0) return skip('There is one document.');
    const names = ['resource', 'authorization_servers', 'scopes_supported', 'bearer_methods_supported'];
    for (const other of comparable) {
      const name = names.find(
        (member) => JSON.stringify(taken.members[member]) !== JSON.stringify(other.members[member]),
      );
      if (name !== undefined)
        return warn(
          `"${name}" is ${quoteOrMissing(taken.members[name])} at ${taken.place.url}, and ${quoteOrMissing(other.members[name])} at ${other.url}. Which one counts depends on the client.`,
          'Serve one document at all places.',
        );
    }
    return pass(`${comparable.length + 1} places say the same.`);
  },
};

/** Checks that pages can read the metadata. */
const readable: Check = {
  id: 'PRM-CORS',
  section: 'resource',
  title: 'A browser client may read the metadata',
  clause: 'WHATWG Fetch "CORS check"',
  needs: ['PRM-FOUND'],
  async judge(subject) {
    const taken = await subject.fact(resourceDocument);
    if (!taken) return skip('There is no document.');
    const answer = await ask(subject, taken.place.url, { headers: { origin: browserOrigin } });
    if (answer.kind === 'unanswered') return unknown(describeAnswer(answer));
    const { evidence } = answer;
    if (mayRead(answer)) return pass('Access-Control-Allow-Origin allows it.', { evidence });
    return warn(
      `${taken.place.url} has no Access-Control-Allow-Origin for a page, so that clients in a browser do not find it.`,
      'Send Access-Control-Allow-Origin: * with the document; it is public.',
      { evidence },
    );
  },
};

/** Maximum age of the metadata in caches without a warning, in seconds. */
const longestAge = 86_400;

/** Checks that changes of the metadata reach clients. */
const cache: Check = {
  id: 'PRM-CACHE',
  section: 'resource',
  title: 'The metadata is not kept by caches for days',
  clause: 'RFC 9111 section 4.2',
  needs: ['PRM-FOUND'],
  async judge(subject) {
    const taken = await subject.fact(resourceDocument);
    if (taken?.place.answer.kind !== 'answered') return skip('There is no document.');
    const control = taken.place.answer.headers.get('cache-control') ?? '';
    const ages = [...control.matchAll(/\b(?:s-maxage|max-age)=(\d+)/gi)].map(([, age]) => Number(age));
    const age = Math.max(0, ...ages);
    if (age <= longestAge)
      return pass(control === '' ? 'It has no Cache-Control.' : `Cache-Control: ${quote(control)}`);
    return warn(
      `Cache-Control: ${quote(control)} keeps the document for ${Math.round(age / 86_400)} days; after a change clients go on to the old authorization server.`,
      `Send max-age of an hour or so.`,
    );
  },
};

/** Checks of the location and the delivery of the metadata. */
export const documentChecks: readonly Check[] = [document, found, linked, agree, readable, cache];
