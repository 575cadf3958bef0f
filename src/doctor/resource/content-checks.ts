import { describeDifference, quote } from '../../client/quote.ts';
import { isLoopbackHost } from '../../oauth/redirect-uri.ts';
import { canonicalResource, resourceCovers } from '../../oauth/resource-indicator.ts';
import { type Check, fail, pass, skip, warn } from '../check.ts';
import { internalFault, quoteOrMissing, stringsOf } from '../document.ts';
import { anonymousInitialize, firstRefusal } from '../reach/anonymous.ts';
import type { Subject } from '../subject.ts';
import { secretsInQuery } from '../without-secrets.ts';
import { publicAddressHints, type ResourceDocument, resourceDocument } from './places.ts';

const needs = ['PRM-FOUND'] as const;

const noDocument = skip('There is no document.');

/** Judges the metadata, if there is any; its exchange is the evidence. */
function judging(
  judge: (members: ResourceDocument['members'], subject: Subject) => ReturnType<Check['judge']>,
): Check['judge'] {
  return async (subject) => {
    const taken = await subject.fact(resourceDocument);
    return taken
      ? { evidence: taken.place.answer.evidence, ...(await judge(taken.members, subject)) }
      : noDocument;
  };
}

/** Checks that the server knows its public address. */
const internalHost: Check = {
  id: 'PRM-INTERNAL-HOST',
  section: 'resource',
  title: 'The metadata names public addresses, not those behind the proxy',
  clause: 'operational',
  needs,
  judge: judging(async (members, subject) => {
    const urls = [members.resource, ...(stringsOf(members.authorization_servers) ?? [])];
    for (const url of urls) {
      const fault = typeof url === 'string' ? internalFault(url, subject.url) : undefined;
      if (fault !== undefined)
        return fail(
          `The metadata names ${quote(url)}, which ${fault}.`,
          `Tell the server its public URL, which begins with ${new URL(subject.url).origin} (Gatehouse: publicUrl), or have the proxy pass Host and X-Forwarded-Proto on to it.`,
          { hints: publicAddressHints },
        );
    }
    return pass('All addresses are ones that clients can reach.');
  }),
};

/** Checks that `resource` is a valid resource identifier. */
const resourceForm: Check = {
  id: 'PRM-RESOURCE-FORM',
  section: 'resource',
  title: '"resource" is an absolute https URL without a fragment',
  clause: 'RFC 9728 section 2; RFC 8707 section 2',
  needs: [...needs, 'PRM-INTERNAL-HOST'],
  judge: judging(async ({ resource }) => {
    if (typeof resource !== 'string' || !URL.canParse(resource))
      return fail(
        `"resource" is ${quoteOrMissing(resource)}.`,
        'Publish the URL that clients call as "resource".',
      );
    const url = new URL(resource);
    if (resource.includes('#'))
      return fail(`"resource" is ${quote(resource)}, which has a fragment.`, 'Leave the fragment out.');
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname)))
      return fail(`"resource" is ${quote(resource)}, which is not https.`, 'Publish the https URL.');
    return pass(`"resource" is ${quote(resource)}.`);
  }),
};

/** Checks that the metadata belongs to this server. */
const resource: Check = {
  id: 'PRM-RESOURCE',
  section: 'resource',
  title: '"resource" is the URL that is called, character by character',
  clause: 'RFC 9728 section 3.3',
  needs: [...needs, 'PRM-INTERNAL-HOST', 'PRM-RESOURCE-FORM'],
  judge: judging(async (members, subject) => {
    const named = String(members.resource);
    if (named === subject.url) return pass(`"resource" is ${quote(named)}, as called.`);
    if (secretsInQuery(subject.url).length > 0)
      return skip('The URL that was called has a key in it, which no document may repeat.', {
        because: 'REACH-URL',
      });
    const difference = describeDifference(subject.url, named);
    if (canonicalResource(named) === canonicalResource(subject.url))
      return warn(
        `"resource" is the same URL written in another way: ${difference}. Clients that compare strictly, such as VS Code, stop here.`,
        `Give clients the URL ${quote(named)}, or publish ${quote(subject.url)}.`,
      );
    if (resourceCovers(named, subject.url))
      return warn(
        `"resource" is a parent of the URL: ${difference}. Clients that compare strictly stop here, and tokens are for everything below.`,
        `Publish ${quote(subject.url)} for this endpoint.`,
      );
    const answer = await subject.fact(anonymousInitialize);
    if (answer.kind === 'answered' && (answer.status === 404 || answer.status === 405))
      return skip(`"resource" is another URL: ${difference}. Nothing is at the one that was called.`, {
        because: 'CHALLENGE-STATUS',
      });
    return fail(
      `"resource" is another URL: ${difference}. Clients must not use this document.`,
      `Publish ${quote(subject.url)} as "resource", or give clients the URL ${quote(named)}.`,
    );
  }),
};

/** Checks that the metadata names authorization servers. */
const servers: Check = {
  id: 'PRM-SERVERS',
  section: 'resource',
  title: '"authorization_servers" names at least one, by https URLs',
  clause: 'RFC 9728 section 2; MCP authorization "Authorization Server Location"',
  needs,
  judge: judging(async (members) => {
    const named = stringsOf(members.authorization_servers) ?? [];
    if (named.length === 0)
      return fail(
        `"authorization_servers" is ${quoteOrMissing(members.authorization_servers)}.`,
        'Publish the issuer of your authorization server: "authorization_servers": ["https://login.example.com"].',
      );
    const bad = named.find((issuer) => {
      const url = URL.parse(issuer);
      return (
        !url || (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname)))
      );
    });
    if (bad !== undefined)
      return fail(
        `"authorization_servers" has ${quote(bad)}, which is no https URL.`,
        URL.canParse(bad)
          ? 'Put TLS in front of the authorization server, make its https URL its issuer, and publish that here.'
          : 'Publish the issuer as its metadata writes it: an absolute https URL.',
      );
    return pass(`It names ${named.map(quote).join(', ')}.`);
  }),
};

/** Checks that the listed scopes do not request too much. */
const scopes: Check = {
  id: 'PRM-SCOPES',
  section: 'resource',
  title: '"scopes_supported" has scopes of this server, and no offline_access',
  clause: 'MCP authorization "Refresh Tokens"; RFC 9728 section 2',
  needs,
  judge: judging(async (members) => {
    if (members.scopes_supported === undefined)
      return skip('It is not there: clients ask for no scope, or for what the challenge names.');
    const named = stringsOf(members.scopes_supported);
    if (!named)
      return fail(
        `"scopes_supported" is ${quote(members.scopes_supported)}, no list.`,
        'Publish a list of strings.',
      );
    if (named.includes('offline_access'))
      return warn(
        '"scopes_supported" has offline_access, which says how long a login lasts and nothing about this server.',
        'Take it out here; list it in the metadata of the authorization server.',
      );
    return pass(`It has ${quote(named.join(' '))}.`);
  }),
};

/** Checks that tokens are sent in the header. */
const bearerMethods: Check = {
  id: 'PRM-BEARER-METHODS',
  section: 'resource',
  title: 'Tokens are taken from the Authorization header, and not from the query',
  clause: 'RFC 9728 section 2; MCP authorization "Token Requirements"',
  needs,
  judge: judging(async (members) => {
    const methods = stringsOf(members.bearer_methods_supported);
    if (!methods) return skip('"bearer_methods_supported" is not there, and need not be.');
    if (!methods.includes('header'))
      return fail(
        `"bearer_methods_supported" is ${quote(methods.join(' '))}, without header.`,
        'Add "header": MCP clients send tokens in no other way.',
      );
    if (methods.includes('query'))
      return warn(
        '"bearer_methods_supported" has query: tokens then stand in URLs, and in logs.',
        'Take "query" out, and refuse such tokens.',
      );
    return pass(`It is ${quote(methods.join(' '))}.`);
  }),
};

/** Checks that the DPoP metadata matches the behaviour. */
const dpop: Check = {
  id: 'PRM-DPOP',
  section: 'resource',
  title: 'The challenge asks for DPoP where the metadata requires it',
  clause: 'RFC 9728 section 2; RFC 9449 section 7.1',
  needs: [...needs, 'CHALLENGE-HEADER'],
  judge: judging(async (members, subject) => {
    const refusal = await subject.fact(firstRefusal);
    const required = members.dpop_bound_access_tokens_required === true;
    const schemes = (refusal?.challenges ?? []).map(({ scheme }) => scheme);
    const only = schemes.includes('dpop') && !schemes.includes('bearer');
    if (!required && !only) return skip('Tokens need not be bound to a key.');
    if (required && schemes.includes('dpop')) return pass('Both say DPoP.');
    return required
      ? warn(
          'The metadata requires DPoP-bound tokens, but the challenge offers no DPoP.',
          'Add a DPoP challenge, or take dpop_bound_access_tokens_required out.',
        )
      : warn(
          'The challenge offers DPoP only, but the metadata does not say that bound tokens are required.',
          'Publish "dpop_bound_access_tokens_required": true.',
        );
  }),
};

/** Checks of the content of the metadata. */
export const contentChecks: readonly Check[] = [
  internalHost,
  resourceForm,
  resource,
  servers,
  scopes,
  bearerMethods,
  dpop,
];
