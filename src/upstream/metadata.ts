import {
  asObject,
  asText,
  decodeBody,
  isSuccess,
  type JsonObject,
  type NoteSlip,
  noteMediaType,
  parseObject,
  readMembers,
} from '../oauth/foreign-json.ts';
import { isHostOf, isSameIssuer } from '../oauth/issuer.ts';
import { isLoopbackHost } from '../oauth/redirect-uri.ts';
import { pathOf, wellKnown } from '../oauth/well-known.ts';
import { type Ask, kindOf } from './ask.ts';
import type { UpstreamPreset } from './presets.ts';
import type { UpstreamSettings } from './upstream.ts';
import { UpstreamFault, type UpstreamReason } from './upstream-fault.ts';

/** Metadata of an upstream's server: checked, or from the settings. */
export interface ServerMetadata {
  /** The configured issuer; the origin of the authorization endpoint for an upstream without one. */
  issuer: string;
  /** The issuer as spelled in the metadata, tokens and callbacks: it may differ in the slash at its end. */
  spelledIssuer?: string;
  authorization_endpoint: string;
  token_endpoint: string;
  userinfo_endpoint?: string | undefined;
  revocation_endpoint?: string | undefined;
  /** Absent for an upstream without ID tokens. */
  jwks_uri?: string | undefined;
  token_endpoint_auth_methods_supported?: readonly string[] | undefined;
  id_token_signing_alg_values_supported?: readonly string[] | undefined;
  authorization_response_iss_parameter_supported?: boolean | undefined;
  /** The document as it was published. */
  published: JsonObject;
}

/** Reads the metadata of an upstream. */
export interface MetadataSource {
  /**
   * Returns cached metadata, or requests it if that is too old.
   * @throws UpstreamFault
   */
  read(): Promise<ServerMetadata>;
  /**
   * Always requests the metadata.
   * @throws UpstreamFault
   */
  readAnew(): Promise<ServerMetadata>;
}

/** Options of {@link createMetadataSource}. */
export interface MetadataOptions {
  name: string;
  settings: UpstreamSettings;
  preset: UpstreamPreset;
  ask: Ask;
  /** True allows endpoints on this machine without https. */
  dangerouslyFromLoopback: boolean;
  /** Epoch seconds. */
  now: () => number;
  /** Called for each accepted deviation from a standard. */
  tolerated?: NoteSlip | undefined;
}

/** Bounds of the lifetime of metadata, in seconds, for any `max-age`. */
const freshness = { atLeast: 60, atMost: 3_600 } as const;

/** Time for which old metadata is used while the upstream does not respond, in seconds. */
const staleSeconds = 86_400;

/** Endpoints by their setting. `isNeeded`: a login needs them. */
const endpoints = [
  { member: 'authorization_endpoint', setting: 'authorizationEndpoint', isNeeded: true },
  { member: 'token_endpoint', setting: 'tokenEndpoint', isNeeded: true },
  { member: 'userinfo_endpoint', setting: 'userInfoEndpoint', isNeeded: false },
  { member: 'revocation_endpoint', setting: 'revocationEndpoint', isNeeded: false },
] as const;

const textList = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : undefined;

/** Returns how long a response is fresh (RFC 9111 section 5.2.2.1), within bounds. */
function freshSecondsOf(headers: Headers): number {
  const stated = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(headers.get('cache-control') ?? '')?.[1];
  return Math.min(Math.max(Number(stated ?? freshness.atMost), freshness.atLeast), freshness.atMost);
}

/**
 * Returns the metadata URLs of an OpenID provider, then of a plain authorization server (RFC 8414 section 5).
 */
function placesOf(issuer: string): string[] {
  const { origin } = new URL(issuer);
  const path = pathOf(issuer);
  return [
    `${origin}${path}${wellKnown.openidConfiguration}`,
    `${origin}${wellKnown.authorizationServer}${path}`,
  ];
}

/**
 * Creates the metadata source of one upstream. Metadata is accepted only for the configured issuer, and only
 * with endpoints on its own host, or on one of the preset or the settings (OpenID Connect Discovery 1.0
 * section 4.3; T-088).
 */
export function createMetadataSource(options: MetadataOptions): MetadataSource {
  const { name, settings, preset, ask, dangerouslyFromLoopback, now, tolerated } = options;
  const fault = (reason: UpstreamReason, detail?: string): UpstreamFault =>
    new UpstreamFault(name, kindOf(reason), reason, detail);

  function checkUrl(value: unknown, member: string, issuer: string): string {
    const url = URL.parse(asText(value) ?? '');
    if (!url) throw fault('metadata_malformed', member);
    const isOwnMachine = dangerouslyFromLoopback && isLoopbackHost(url.hostname);
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isOwnMachine))
      throw fault('metadata_endpoint_not_https', member);
    const hosts = [new URL(issuer).host, ...(preset.endpointHosts ?? [])];
    if (!hosts.some((allowed) => isHostOf(url.host, allowed))) throw fault('metadata_endpoint_host', member);
    return url.href;
  }

  function check(published: JsonObject, issuer: string): ServerMetadata {
    const expected = preset.metadataIssuerOf?.(issuer) ?? issuer;
    const named = published.issuer;
    if (!isSameIssuer(expected, named, tolerated)) throw fault('metadata_issuer');
    const found = endpoints.flatMap(({ member, setting, isNeeded }) => {
      const chosen = settings[setting];
      if (chosen !== undefined) return [[member, chosen]];
      if (published[member] !== undefined) return [[member, checkUrl(published[member], member, issuer)]];
      if (isNeeded) throw fault('metadata_endpoint_missing', member);
      return [];
    });
    const { jwks_uri: keys, authorization_response_iss_parameter_supported: namesItself } = published;
    return {
      ...(Object.fromEntries(found) as Pick<ServerMetadata, 'authorization_endpoint' | 'token_endpoint'>),
      issuer: expected,
      spelledIssuer: named,
      jwks_uri: keys === undefined ? undefined : checkUrl(keys, 'jwks_uri', issuer),
      token_endpoint_auth_methods_supported: textList(published.token_endpoint_auth_methods_supported),
      id_token_signing_alg_values_supported: textList(published.id_token_signing_alg_values_supported),
      authorization_response_iss_parameter_supported: namesItself === true,
      published,
    };
  }

  async function fetchFirst(issuer: string): Promise<{ published: JsonObject; freshSeconds: number }> {
    let malformed = false;
    for (const place of placesOf(issuer)) {
      const answer = await ask('metadata', place);
      if (!isSuccess(answer.status)) continue;
      const published = parseObject(decodeBody(await answer.arrayBuffer()), tolerated);
      if (published) {
        noteMediaType(answer.headers.get('content-type'), tolerated ?? (() => undefined));
        return { published: readMembers(published, tolerated), freshSeconds: freshSecondsOf(answer.headers) };
      }
      malformed = true;
    }
    throw fault(malformed ? 'metadata_malformed' : 'metadata_missing');
  }

  /** Returns the metadata of an upstream without an issuer, from the settings. */
  function asSet(): ServerMetadata {
    const set = Object.fromEntries(
      endpoints.flatMap(({ member, setting }) =>
        settings[setting] === undefined ? [] : [[member, settings[setting]]],
      ),
    ) as Pick<ServerMetadata, 'authorization_endpoint' | 'token_endpoint'>;
    const published = asObject(set) ?? {};
    return { ...set, issuer: new URL(set.authorization_endpoint).origin, published };
  }

  const { issuer } = settings;
  let known: { metadata: ServerMetadata; freshUntil: number; usableUntil: number } | undefined;
  let underWay: Promise<ServerMetadata> | undefined;

  async function readAnew(): Promise<ServerMetadata> {
    if (issuer === undefined) return asSet();
    underWay ??= (async () => {
      const { published, freshSeconds } = await fetchFirst(issuer);
      const metadata = check(published, issuer);
      known = { metadata, freshUntil: now() + freshSeconds, usableUntil: now() + staleSeconds };
      return metadata;
    })().finally(() => {
      underWay = undefined;
    });
    return underWay;
  }

  return {
    readAnew,
    async read() {
      if (known && now() < known.freshUntil) return known.metadata;
      const last = known;
      return readAnew().catch((error: unknown) => {
        const isDown = error instanceof UpstreamFault && error.kind === 'unavailable';
        if (isDown && last && now() < last.usableUntil) return last.metadata;
        throw error;
      });
    },
  };
}
