import { authorizationServerMetadataUrls, pathOf, wellKnown } from '../../oauth/well-known.ts';
import { type Answer, ask } from '../ask.ts';
import { type Check, type Judgement, skip } from '../check.ts';
import { type Published, readDocument, stringsOf } from '../document.ts';
import { legacyRevision } from '../requests.ts';
import { resourceDocument } from '../resource/places.ts';
import type { Subject } from '../subject.ts';

/** The authorization server that the resource names. */
interface NamedIssuer {
  issuer: string;
  /** Source of its name; `origin`: the resource names none, and clients of 2025-03-26 use the origin of the server. */
  by: 'metadata' | 'origin';
  /** Further entries of `authorization_servers`. */
  others: readonly string[];
}

/** Fact: the authorization server that clients use; undefined if the metadata names no valid URL. */
export async function namedIssuer(subject: Subject): Promise<NamedIssuer | undefined> {
  const resource = await subject.fact(resourceDocument);
  if (!resource) return { issuer: new URL(subject.url).origin, by: 'origin', others: [] };
  const [issuer, ...others] = stringsOf(resource.members.authorization_servers) ?? [];
  return issuer !== undefined && /^https?:/.test(URL.parse(issuer)?.protocol ?? '')
    ? { issuer, by: 'metadata', others }
    : undefined;
}

/** A possible location of authorization server metadata, and its content. */
export interface IssuerPlace {
  url: string;
  answer: Answer;
  published: Published;
}

/** Requests one location as clients do. */
export async function askPlace(subject: Subject, url: string): Promise<IssuerPlace> {
  const answer = await ask(subject, url, {
    headers: { accept: 'application/json', 'mcp-protocol-version': legacyRevision },
  });
  return { url, answer, published: readDocument(answer) };
}

/** Fact: every place of the issuer's metadata, in the order of clients. */
export async function issuerPlaces(subject: Subject): Promise<readonly IssuerPlace[]> {
  const named = await subject.fact(namedIssuer);
  const places: IssuerPlace[] = [];
  for (const url of named ? authorizationServerMetadataUrls(named.issuer) : [])
    places.push(await askPlace(subject, url));
  return places;
}

/**
 * Fact: wrong locations at which servers put the metadata of an issuer with a path. Requested if the right ones have
 * none.
 */
export async function wrongPlaces(subject: Subject): Promise<readonly IssuerPlace[]> {
  const named = await subject.fact(namedIssuer);
  const path = named ? pathOf(named.issuer) : '';
  if (!named || path === '') return [];
  const { origin } = new URL(named.issuer);
  const places: IssuerPlace[] = [];
  for (const url of [
    `${origin}${path}${wellKnown.authorizationServer}`,
    `${origin}${wellKnown.authorizationServer}`,
    `${origin}${wellKnown.openidConfiguration}`,
  ])
    places.push(await askPlace(subject, url));
  return places;
}

/** The metadata of the authorization server. */
interface IssuerDocument extends NamedIssuer {
  url: string;
  answer: Answer;
  members: Record<string, unknown>;
  /** See `Published`. */
  slip?: string | undefined;
}

/** The first document at the issuer's places, the one clients take. Undefined if there is none. */
export async function issuerDocument(subject: Subject): Promise<IssuerDocument | undefined> {
  const named = await subject.fact(namedIssuer);
  if (!named) return undefined;
  for (const { url, answer, published } of await subject.fact(issuerPlaces))
    if (published.kind === 'document')
      return { ...named, url, answer, members: published.members, slip: published.slip };
  return undefined;
}

/**
 * Judges the metadata of the authorization server, if there is any. The exchange that brought it is the evidence unless
 * the judgement names another.
 * @param judge what the check does with it
 */
export function judgingMetadata(
  judge: (document: IssuerDocument, subject: Subject) => Judgement | Promise<Judgement>,
): Check['judge'] {
  return async (subject) => {
    const document = await subject.fact(issuerDocument);
    return document
      ? { evidence: document.answer.evidence, ...(await judge(document, subject)) }
      : skip('There is no metadata of the authorization server.');
  };
}
