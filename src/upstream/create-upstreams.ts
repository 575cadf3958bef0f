import { readFileSync } from 'node:fs';
import type { ClientIdentity } from '../client/building-blocks.ts';
import { readPrivateKey } from '../client/client-key.ts';
import { createOperatorFetch } from '../net/operator-fetch.ts';
import type { Slip } from '../oauth/foreign-json.ts';
import { createAsk } from './ask.ts';
import { withPreset } from './presets.ts';
import type { Upstream, UpstreamSettings, Upstreams } from './upstream.ts';
import { createUpstreamClient } from './upstream-client.ts';

/** Options of all upstreams of an installation. */
export interface UpstreamsOptions {
  /** The public URL of this server; callbacks are below it. */
  publicUrl: string;
  /** True allows upstreams on this machine, without https. */
  dangerouslyFromLoopback: boolean;
  /** Environment variables with secrets, which settings may name. */
  environment: Environment;
  /** Epoch seconds. */
  now: () => number;
  /** Called for each accepted deviation of an upstream from a standard. */
  tolerated?: ((upstream: string, slip: Slip) => void) | undefined;
  /** Maximum duration of one request to an upstream; default ten seconds (T-084). */
  timeoutMs?: number;
  /**
   * Minimum time between two requests for a key set because of an unknown key; default half a minute (T-086).
   */
  keyCooldownMs?: number;
}

/** Returns the callback path of an upstream; each has its own (RFC 9700 section 4.4.2). */
export function upstreamCallbackPath(name: string): string {
  return `/upstream/${name}/callback`;
}

/**
 * Creates the clients of all upstreams. No requests are sent: an upstream that is down or misconfigured is
 * noticed at the first login.
 * @returns the clients, and the problems of files and environment variables, each with its setting
 */
export async function createUpstreams(
  settings: Readonly<Record<string, UpstreamSettings>>,
  options: UpstreamsOptions,
): Promise<{ upstreams: Upstreams; problems: string[] }> {
  const {
    publicUrl,
    dangerouslyFromLoopback,
    environment,
    now,
    timeoutMs,
    keyCooldownMs = 30_000,
    tolerated,
  } = options;
  const all: Upstream[] = [];
  const problems: string[] = [];
  for (const [name, given] of Object.entries(settings)) {
    const credentials = await readCredentials(given, environment);
    if ('problem' in credentials) {
      problems.push(`upstreams.${name}.${credentials.problem}`);
      continue;
    }
    const { allowPrivateNetwork } = given;
    const limits = timeoutMs === undefined ? {} : { timeoutMs };
    const fetch = createOperatorFetch({ allowPrivateNetwork, dangerouslyFromLoopback, ...limits });
    all.push(
      createUpstreamClient({
        name,
        ...withPreset(name, given),
        identity: credentials.identity,
        callbackUrl: `${publicUrl}${upstreamCallbackPath(name)}`,
        ask: createAsk(name, fetch),
        dangerouslyFromLoopback,
        keyCooldownMs,
        now,
        tolerated: tolerated && ((slip) => tolerated(name, slip)),
      }),
    );
  }
  const byName = new Map(all.map((upstream) => [upstream.name, upstream]));
  return { upstreams: { all, find: (name) => byName.get(name) }, problems };
}

/** The client identity of this server at an upstream, or the problem of a setting. */
export type Credentials = { identity: ClientIdentity } | { problem: string };

/** Environment variables of this process, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

function readFile(setting: string, file: string): { text: string } | { problem: string } {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text === '' ? { problem: `${setting}: ${file} is empty` } : { text };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `${setting}: ${file} cannot be read${code ? ` (${code})` : ''}` };
  }
}

function readSecret(
  secret: UpstreamSettings['clientSecret'],
  environment: Environment,
): { text: string } | { problem: string } {
  if (typeof secret !== 'object') return { text: String(secret) };
  const text = Object.hasOwn(environment, secret.env) ? environment[secret.env]?.trim() : undefined;
  return text ? { text } : { problem: `clientSecret: the environment has no ${secret.env}: set it` };
}

/**
 * Reads the client credentials from the settings, or from the file or environment variable that they name.
 * Problems contain nothing of them.
 * @param environment of this process
 */
export async function readCredentials(
  settings: Pick<UpstreamSettings, 'clientId' | 'clientSecret' | 'clientSecretFile' | 'clientKeyFile'>,
  environment: Environment,
): Promise<Credentials> {
  const { clientId, clientSecret, clientSecretFile, clientKeyFile } = settings;
  if (clientKeyFile !== undefined) {
    const read = readFile('clientKeyFile', clientKeyFile);
    if ('problem' in read) return read;
    try {
      const privateKey = await readPrivateKey(read.text);
      return { identity: { clientId, privateKey, tokenEndpointAuthMethod: 'private_key_jwt' } };
    } catch (error) {
      return { problem: `clientKeyFile: ${clientKeyFile}: ${(error as Error).message}` };
    }
  }
  const read =
    clientSecretFile === undefined
      ? readSecret(clientSecret, environment)
      : readFile('clientSecretFile', clientSecretFile);
  return 'problem' in read ? read : { identity: { clientId, clientSecret: read.text } };
}

/** A protected resource that upstreams may be for. */
export interface KnownResource {
  resource: string;
  scopes: Readonly<Record<string, string>>;
}

/**
 * Checks if the upstream settings match the installation.
 * @returns all problems, each beginning with its setting
 */
export function checkUpstreams(
  upstreams: Readonly<Record<string, Pick<UpstreamSettings, 'resources' | 'grantScopes'>>>,
  known: readonly KnownResource[],
): string[] {
  const knownResources = known.map(({ resource }) => resource);
  const knownScopes = [...new Set(known.flatMap(({ scopes }) => Object.keys(scopes)))];
  const claimed = Object.entries(upstreams).flatMap(([name, { resources }]) =>
    resources.map((resource) => ({ name, resource })),
  );
  return Object.entries(upstreams).flatMap(([name, { resources, grantScopes = [] }]) =>
    [
      ...resources
        .filter((resource) => !knownResources.includes(resource))
        .map((resource) => `resources: there is no ${resource} here; there are ${knownResources.join(', ')}`),
      ...resources.flatMap((resource) => {
        const other = claimed.find((claim) => claim.resource === resource)?.name;
        return other === name ? [] : [`resources: ${resource} wants ${other} already`];
      }),
      ...grantScopes.flatMap(({ scopes }, index) =>
        scopes
          .filter((scope) => !knownScopes.includes(scope))
          .map(
            (scope) =>
              `grantScopes.${index}.scopes: there is no ${scope} here; there are ${knownScopes.join(', ')}`,
          ),
      ),
    ].map((problem) => `upstreams.${name}.${problem}`),
  );
}

/**
 * Returns the source of an upstream's subjects: two with the same source have the same subject for the same
 * person.
 */
function sourceOf({ settings: { issuer, userInfoEndpoint, userInfo } }: Pick<Upstream, 'settings'>): string {
  return issuer ?? JSON.stringify([userInfoEndpoint, userInfo?.subject]);
}

/**
 * Finds upstreams whose people could be confused: accounts are found by issuer and subject. An upstream
 * without an issuer is known by its origin, which may host other servers, or other subjects for the same
 * people (T-089).
 * @returns all problems, each beginning with its setting
 */
export function findSharedIssuers(
  upstreams: readonly Pick<Upstream, 'name' | 'issuer' | 'settings'>[],
): string[] {
  return upstreams.flatMap((upstream, index) => {
    const { name, issuer } = upstream;
    const other = upstreams
      .slice(0, index)
      .find((one) => issuer !== undefined && one.issuer === issuer && sourceOf(one) !== sourceOf(upstream));
    return other
      ? [
          `upstreams.${name}: its people and those of ${other.name} would be taken for each other, as both are known as ${issuer}; leave one out, or give both the same userInfoEndpoint and userInfo.subject`,
        ]
      : [];
  });
}
