import { describeDifference, quote } from '../../client/quote.ts';
import { readMembers } from '../../oauth/foreign-json.ts';
import { isSameIssuer } from '../../oauth/issuer.ts';
import { isLoopbackHost } from '../../oauth/redirect-uri.ts';
import { authorizationServerMetadataUrls } from '../../oauth/well-known.ts';
import { type Check, fail, pass, skip, warn } from '../check.ts';
import { internalFault, quoteOrMissing } from '../document.ts';
import { firstRefusal } from '../reach/anonymous.ts';
import { describePlace, resourceDocument } from '../resource/places.ts';
import {
  askPlace,
  issuerDocument,
  issuerPlaces,
  judgingMetadata,
  namedIssuer,
  wrongPlaces,
} from './places.ts';

/** Checks that the issuer identifier is valid. */
const issuerForm: Check = {
  id: 'AS-ISSUER-FORM',
  section: 'issuer',
  title: 'The issuer is an https URL without query or fragment',
  clause: 'RFC 8414 section 2',
  needs: ['PRM-SERVERS', 'PRM-INTERNAL-HOST'],
  async judge(subject) {
    const named = await subject.fact(namedIssuer);
    if (!named) return skip('No issuer is named.');
    const { issuer } = named;
    const url = new URL(issuer);
    if (/[?#]/.test(issuer))
      return fail(
        `The issuer ${quote(issuer)} has a query or fragment.`,
        'Give the authorization server an issuer that is a plain URL.',
      );
    if (url.protocol !== 'https:' && !isLoopbackHost(url.hostname))
      return fail(
        `The issuer ${quote(issuer)} is not https.`,
        'Put TLS in front of the authorization server.',
      );
    return pass(`The issuer is ${quote(issuer)}.`);
  },
};

/** Checks that there is metadata. */
const found: Check = {
  id: 'AS-FOUND',
  section: 'issuer',
  title: 'The authorization server publishes metadata where clients look for it',
  clause: 'RFC 8414 section 3.1; MCP authorization "Authorization Server Metadata Discovery"',
  needs: ['PRM-FOUND', 'PRM-SERVERS', 'PRM-INTERNAL-HOST', 'AS-ISSUER-FORM'],
  async judge(subject) {
    const named = await subject.fact(namedIssuer);
    if (!named) return skip('No issuer is named.');
    const places = await subject.fact(issuerPlaces);
    const evidence = places.flatMap(({ answer }) => answer.evidence);
    const all = places.map(describePlace).join('; ');
    const taken = await subject.fact(issuerDocument);
    if (!taken) {
      if (named.by === 'origin' && (await subject.fact(firstRefusal)) === undefined)
        return skip('The server names no authorization server and asks nobody for a token.');
      const elsewhere = (await subject.fact(wrongPlaces)).find(
        ({ published }) => published.kind === 'document',
      );
      return fail(
        `There is no metadata of ${quote(named.issuer)}: ${all}.`,
        elsewhere
          ? `It is at ${elsewhere.url}; serve it at ${places[0]?.url} too: the well-known part stands before the path of the issuer.`
          : `Serve it at ${places.map(({ url }) => url).join(' or ')}, with status 200 and Content-Type: application/json.`,
        { evidence },
      );
    }
    const before = places.slice(
      0,
      places.findIndex(({ url }) => url === taken.url),
    );
    const stopping = before.find(
      ({ answer }) =>
        answer.kind === 'unanswered' || answer.status >= 500 || (answer.status >= 300 && answer.status < 400),
    );
    if (stopping)
      return warn(
        `It is at ${taken.url}, but ${describePlace(stopping)}, which comes first. Clients stop there.`,
        `Answer 404 where there is nothing, or serve the document there too.`,
        { evidence },
      );
    if (taken.slip !== undefined)
      return warn(
        `It is at ${taken.url}, and ${taken.slip}. Clients that do not expect it stop there.`,
        'Save the document as UTF-8 without a byte order mark.',
        { evidence },
      );
    return pass(`It is at ${taken.url}. Asked: ${all}.`, { evidence });
  },
};

/** Checks the types of the members. */
const memberTypes: Check = {
  id: 'AS-MEMBERS',
  section: 'issuer',
  title: 'Members of the metadata have values of their types, and are left out without one',
  clause: 'RFC 8414 sections 2 and 3.2; RFC 9728 sections 2 and 3.2',
  needs: ['AS-FOUND'],
  judge: judgingMetadata(async ({ url, members }, subject) => {
    const resource = await subject.fact(resourceDocument);
    const documents = [
      { place: url, members },
      ...(resource ? [{ place: resource.place.url, members: resource.members }] : []),
    ];
    const faults = documents.flatMap((document) => {
      const slips: string[] = [];
      readMembers(document.members, ({ because }) => slips.push(because));
      return slips.map((because) => `${document.place}: ${because}`);
    });
    if (faults.length === 0) return pass('Each member is of its type, and none is null or empty.');
    return warn(
      `${faults.join('; ')}. Clients that read strictly, such as the SDKs, stop there.`,
      'Leave members without a value out; write lists as lists, numbers as numbers and true as true.',
    );
  }),
};

/** Checks that the metadata belongs to this issuer. */
const issuer: Check = {
  id: 'AS-ISSUER',
  section: 'issuer',
  title: 'The metadata names the issuer that was asked for, character by character',
  clause: 'RFC 8414 section 3.3',
  needs: ['AS-FOUND'],
  judge: judgingMetadata(({ issuer: asked, by, members }, { url }) => {
    const named = members.issuer;
    if (named === asked) return pass(`"issuer" is ${quote(asked)}.`);
    if (by === 'origin' && typeof named === 'string')
      return pass(`The document at the origin names ${quote(named)}, and is a copy of that one's.`);
    const leak = typeof named === 'string' ? internalFault(named, url) : undefined;
    const difference =
      typeof named === 'string' ? describeDifference(asked, named) : `it is ${quoteOrMissing(named)}`;
    if (isSameIssuer(asked, named))
      return warn(
        `"issuer" is not the one in authorization_servers: ${difference}. gatehouse login and SDK v2 overlook the slash, strict clients stop.`,
        'Write the issuer in the same way in both: with the slash at its end, or without.',
      );
    return fail(
      `"issuer" is not the one in authorization_servers: ${difference}.${leak === undefined ? '' : ` It ${leak}.`} Clients must not use the document.`,
      `Publish the issuer as it is, ${quote(named ?? asked)}, in "authorization_servers" of the resource, or correct the metadata.`,
    );
  }),
};

/** Checks that both documents have the same content. */
const agree: Check = {
  id: 'AS-AGREE',
  section: 'issuer',
  title: 'OAuth and OpenID Connect metadata say the same',
  clause: 'consistency',
  needs: ['AS-FOUND'],
  judge: judgingMetadata(async (taken, subject) => {
    const places = await subject.fact(issuerPlaces);
    const others = places.flatMap(({ url, published }) =>
      published.kind === 'document' && url !== taken.url ? [{ url, members: published.members }] : [],
    );
    if (others.length === 0) return skip('There is one document.');
    const evidence = places.flatMap(({ answer }) => answer.evidence);
    const names = [
      'issuer',
      'authorization_endpoint',
      'token_endpoint',
      'registration_endpoint',
      'jwks_uri',
      'code_challenge_methods_supported',
      'authorization_response_iss_parameter_supported',
    ];
    for (const { url, members } of others)
      for (const name of names) {
        const [here, there] = [JSON.stringify(taken.members[name]), JSON.stringify(members[name])];
        if (here !== there)
          return warn(
            `"${name}" is ${quoteOrMissing(taken.members[name])} at ${taken.url}, and ${quoteOrMissing(members[name])} at ${url}. Which one counts depends on the client.`,
            'Serve the same members at all places.',
            { evidence },
          );
      }
    return pass(`${others.length + 1} documents say the same.`, { evidence });
  }),
};

/** Checks that all listed authorization servers have metadata. */
const others: Check = {
  id: 'AS-OTHERS',
  section: 'issuer',
  title: 'Every authorization server that is named publishes metadata',
  clause: 'RFC 9728 section 7.6',
  needs: ['AS-FOUND'],
  async judge(subject) {
    const named = await subject.fact(namedIssuer);
    if (!named || named.others.length === 0) return skip('One is named.');
    for (const other of named.others) {
      const has = URL.canParse(other) && (await askIssuer(subject, other));
      if (!has)
        return warn(
          `${quote(other)}, the second or later of authorization_servers, publishes no metadata. The SDKs take the first, other clients may choose it.`,
          'Take out what is no authorization server.',
        );
    }
    return pass(`${named.others.length + 1} are named, and each has metadata. The SDKs take the first.`);
  },
};

/** Returns true if an issuer has metadata at one of its locations. */
async function askIssuer(subject: Parameters<Check['judge']>[0], issuer: string): Promise<boolean> {
  for (const url of authorizationServerMetadataUrls(issuer))
    if ((await askPlace(subject, url)).published.kind === 'document') return true;
  return false;
}

/** Checks of the location and the owner of the metadata. */
export const discoveryChecks: readonly Check[] = [issuerForm, found, memberTypes, issuer, agree, others];
