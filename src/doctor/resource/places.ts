import { protectedResourceMetadataUrls } from '../../oauth/well-known.ts';
import { type Answer, ask, describeAnswer } from '../ask.ts';
import type { Judgement } from '../check.ts';
import { type Published, readDocument } from '../document.ts';
import { challengedMetadata, firstRefusal } from '../reach/anonymous.ts';
import { legacyRevision } from '../requests.ts';
import type { Subject } from '../subject.ts';

/** A possible location of protected resource metadata, and its content. */
export interface ResourcePlace {
  /** Source of the location: the challenge, or RFC 9728 with or without the path of the server. */
  named: 'by the challenge' | 'with the path' | 'at the root';
  url: string;
  answer: Answer;
  published: Published;
}

/** Fact: all locations that clients request, in their order, also after one with metadata. */
export async function resourcePlaces(subject: Subject): Promise<readonly ResourcePlace[]> {
  const refusal = await subject.fact(firstRefusal);
  const challenged = refusal && challengedMetadata(refusal);
  const wellKnown = protectedResourceMetadataUrls(subject.url);
  const places: [ResourcePlace['named'], string][] = [
    ...wellKnown.map((url, at): [ResourcePlace['named'], string] => [
      at === wellKnown.length - 1 ? 'at the root' : 'with the path',
      url,
    ]),
  ];
  // One on another origin is not asked: no careful client would.
  const isOwn = challenged !== undefined && URL.parse(challenged)?.origin === new URL(subject.url).origin;
  if (isOwn && !wellKnown.includes(challenged)) places.unshift(['by the challenge', challenged]);
  const found: ResourcePlace[] = [];
  for (const [named, url] of places) {
    const answer = await ask(subject, url, {
      headers: { accept: 'application/json', 'mcp-protocol-version': legacyRevision },
    });
    found.push({ named, url, answer, published: readDocument(answer) });
  }
  return found;
}

/** A location with metadata. */
export interface ResourceDocument {
  place: ResourcePlace;
  members: Record<string, unknown>;
}

/** Fact: the metadata that clients use: that of the challenge, or else the first. Undefined if there is none. */
export async function resourceDocument(subject: Subject): Promise<ResourceDocument | undefined> {
  const places = await subject.fact(resourcePlaces);
  const refusal = await subject.fact(firstRefusal);
  const challenged = refusal && challengedMetadata(refusal);
  const documents = places.flatMap((place) =>
    place.published.kind === 'document' ? [{ place, members: place.published.members }] : [],
  );
  return documents.find(({ place }) => place.url === challenged) ?? documents[0];
}

/** Describes a location and its response in a few words. */
export function describePlace({
  url,
  answer,
  published,
}: Pick<ResourcePlace, 'url' | 'answer' | 'published'>): string {
  if (published.kind === 'unusable') return `${url}: ${published.why}`;
  const slip = published.kind === 'document' ? published.slip : undefined;
  return `${url}: ${describeAnswer(answer)}${slip === undefined ? '' : `, and ${slip}`}`;
}

const prefix = '/.well-known/oauth-protected-resource';

/** Configuration lines that pass the well-known locations of the origin to the server. */
export const wellKnownHints: NonNullable<Judgement['hints']> = [
  { product: 'nginx', lines: `location ^~ ${prefix} { proxy_pass http://127.0.0.1:8080; }` },
  { product: 'caddy', lines: `handle ${prefix}* { reverse_proxy 127.0.0.1:8080 }` },
  {
    product: 'traefik',
    lines: `rule: PathPrefix(\`${prefix}\`)  with a priority above the site's own router`,
  },
  { product: 'apache', lines: `ProxyPass ${prefix} http://127.0.0.1:8080${prefix}` },
];

/** Configuration lines that pass the public address to the server. */
export const publicAddressHints: NonNullable<Judgement['hints']> = [
  {
    product: 'nginx',
    lines:
      'proxy_set_header Host $host; proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header X-Forwarded-Host $host;',
  },
  { product: 'caddy', lines: 'servers { trusted_proxies static <address of the proxy before Caddy> }' },
  { product: 'apache', lines: 'ProxyPreserveHost On\nRequestHeader set X-Forwarded-Proto "https"' },
  { product: 'traefik', lines: 'forwardedHeaders: { trustedIPs: [<address of the proxy before Traefik>] }' },
];
