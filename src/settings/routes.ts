import { z } from 'zod';
import { backendKeyForm } from '../gateway/aggregate/final-names.ts';
import { headerOfAssertion, omittedHeader } from '../oauth/caller-fields.ts';
import { remoteBackendSettings } from './backends/remote.ts';
import { stdioBackendSettings } from './backends/stdio.ts';
import { type CredentialSettings, credentialSettings, findMisplaced } from './credentials.ts';
import { whenFieldsValid } from './issues.ts';
import { cacheSettings, policySettings, recordingSettings } from './policy.ts';
import { findScopeProblems, scopeListSetting, scopeRulesSettings, scopesSetting } from './scopes.ts';

const routeName = z.string().regex(/^[a-z0-9-]{1,32}$/, {
  error: 'must be a name of 1 to 32 lower case letters, digits and hyphens',
});

const backendSetting = z.union([stdioBackendSettings, remoteBackendSettings]);

const backendKey = z.string().regex(backendKeyForm, {
  error: 'must be a name of 1 to 20 lower case letters, digits and hyphens, beginning with a letter',
});

/** An MCP server behind the gateway, at a path of its own. */
const route = z.strictObject({
  path: z
    .string()
    .regex(/^\/([a-z0-9-]+(\/[a-z0-9-]+)*)?$/, {
      error:
        'must be a path of lower case letters, digits and hyphens such as /notes, without a slash at its end',
    })
    .optional()
    .describe('path below publicUrl, followed by /mcp, /sse or /rest; default: / and the name'),
  name: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'display name on the consent page; default: the name of the route, or for / the host of publicUrl',
    ),
  backend: backendSetting
    .optional()
    .describe('the MCP server: a program (command), or a server by URL (url)'),
  backends: z
    .record(backendKey, backendSetting)
    .optional()
    .describe(
      'instead of backend: several MCP servers as one, by keys that are put before the names of their tools (files_read) and resources (files+file:///a)',
    ),
  scopes: scopesSetting
    .optional()
    .describe('its scopes, each with the sentence for the consent page; default: one, mcp'),
  baselineScopes: scopeListSetting.optional().describe('scopes of a client that requests none; default: all'),
  scopeRules: scopeRulesSettings.optional().describe('scopes that its tools, prompts and resources require'),
  policy: policySettings,
  cache: cacheSettings,
  credentials: credentialSettings,
  calls: recordingSettings,
});

/** Setting: MCP servers behind the gateway. */
export const routeSettings = z
  .record(
    routeName,
    route.superRefine(
      (given, context) => {
        for (const { place, message } of findBackendProblems(given))
          context.addIssue({ code: 'custom', path: place, message });
      },
      whenFieldsValid('backend', 'backends', 'credentials'),
    ),
  )
  .default({})
  .describe(
    'MCP servers behind the gateway, by name: each has its own path and is a protected resource of its own.',
  );

/** A backend of a route. */
export interface PlacedBackend {
  /** Its key, if the route has several backends. */
  key: string | undefined;
  /** Its place in the settings of the route. */
  place: string;
  backend: BackendSettings;
}

/** A backend after parsing. */
export type BackendSettings = z.output<typeof backendSetting>;

/** Returns the backends of a route: a single one, or several by their keys. */
export function backendsOf({
  backend,
  backends = {},
}: Pick<z.output<typeof route>, 'backend' | 'backends'>): PlacedBackend[] {
  if (backend) return [{ key: undefined, place: 'backend', backend }];
  return Object.entries(backends).map(([key, each]) => ({ key, place: `backends.${key}`, backend: each }));
}

/**
 * Returns the credentials for one backend of a route.
 * @param key undefined if it is the only one
 */
export function credentialsFor(credentials: CredentialSettings, key: string | undefined): CredentialSettings {
  return Object.fromEntries(Object.entries(credentials).filter(([, { backend }]) => backend === key));
}

interface Problem {
  place: string[];
  message: string;
}

/** Returns the problems of a route's backends, including credentials that they cannot receive. */
function findBackendProblems(
  given: Pick<z.output<typeof route>, 'backend' | 'backends' | 'credentials'>,
): Problem[] {
  const { backend, backends, credentials } = given;
  if ((backend === undefined) === (backends === undefined))
    return [{ place: ['backend'], message: 'set either backend, or backends for several as one' }];
  const all = backendsOf(given);
  if (all.length === 0) return [{ place: ['backends'], message: 'must have one or more' }];
  const keys = all.map(({ key }) => key);
  const homeless = Object.entries(credentials).flatMap(([name, { backend: key }]): Problem[] => {
    if (keys.includes(key)) return [];
    const message = backends
      ? `must name the backend it is for: one of ${keys.join(', ')}`
      : 'is for routes with several backends: leave it out';
    return [{ place: ['credentials', name, 'backend'], message }];
  });
  const misplaced = all.flatMap(({ key, backend: each }) =>
    findMisplaced(credentialsFor(credentials, key), 'url' in each ? each.transport : undefined),
  );
  const doubled = all.flatMap(({ key, backend: each }) => {
    const fixed = 'url' in each ? Object.keys(each.headers).map((header) => header.toLowerCase()) : [];
    return Object.entries(credentialsFor(credentials, key)).flatMap(([name, { as }]): Problem[] => {
      if (!('header' in as) || !fixed.includes(as.header.toLowerCase())) return [];
      const message = 'stands in headers of the backend already, for everybody';
      return [{ place: ['credentials', name, 'as'], message }];
    });
  });
  return [
    ...homeless,
    ...doubled,
    ...all.flatMap((each) => findCallerProblems(each, credentials)),
    ...misplaced.map((place) => ({
      place: ['credentials', ...place.split('.')],
      message: 'must be env for a program, header for a server by URL, or auth for one that speaks rest',
    })),
  ];
}

/** Returns the headers and variables about the caller that a backend gets from another setting, or twice. */
function findCallerProblems(
  { key, place, backend }: PlacedBackend,
  credentials: CredentialSettings,
): Problem[] {
  const placed = Object.values(credentialsFor(credentials, key)).map(({ as }) => as);
  const findTaken = (kind: string, names: readonly string[], taken: readonly string[]): Problem[] =>
    names
      .filter((name, index) => [...taken, ...names.slice(0, index)].includes(name))
      .map((name) => ({
        place: [...place.split('.'), 'caller', kind],
        message: `${name} is set by another setting already`,
      }));
  if ('command' in backend) {
    const { env, caller } = backend;
    const fixed = Array.isArray(env) ? env : Object.keys(env);
    const ofCredentials = placed.flatMap((as) => ('env' in as ? [as.env] : []));
    return findTaken('env', Object.keys(caller?.env ?? {}), [...fixed, ...ofCredentials]);
  }
  const { headers, caller = {} } = backend;
  const ofCredentials = placed.flatMap((as) => ('header' in as ? [as.header.toLowerCase()] : []));
  const fixed = Object.keys(headers).map((name) => name.toLowerCase());
  const own = Object.keys(caller.headers ?? {}).map((name) => name.toLowerCase());
  if (own.length > 0) own.unshift(omittedHeader);
  const ofAssertion = headerOfAssertion(caller.assertion);
  const taken = [...fixed, ...ofCredentials];
  return [
    ...findTaken('headers', own, taken),
    ...(ofAssertion === undefined ? [] : findTaken('assertion', [ofAssertion], [...taken, ...own])),
  ];
}

/** First path segments reserved for Gatehouse's own pages and endpoints. */
export const takenSegments: readonly string[] = [
  'account',
  'authorize',
  'device',
  'healthz',
  'interaction',
  'introspect',
  'jwks',
  'par',
  'readyz',
  'register',
  'revoke',
  'session',
  'token',
  'upstream',
];

/** Routes before parsing: every setting with a default is optional. */
export type RoutesInput = NonNullable<z.input<typeof routeSettings>>;

/** Routes after parsing. */
export type RoutesSettings = z.output<typeof routeSettings>;

/**
 * Returns the path of a route below the public URL; empty for `/`.
 * @param name name of the route
 */
export function pathOfRoute(name: string, { path = `/${name}` }: { path?: string | undefined }): string {
  return path === '/' ? '' : path;
}

/** The fields that checks across routes read. */
const placedRoute = z.object(
  route.pick({ path: true, scopes: true, baselineScopes: true, scopeRules: true }).shape,
);

type PlacedRoutes = Record<string, z.output<typeof placedRoute>>;

/**
 * Returns those of the rejected routes whose path and scopes are valid by themselves.
 * @param given routes before parsing
 */
export function validRoutes(given: unknown): PlacedRoutes {
  const sound = Object.entries(given ?? {}).flatMap(([name, each]) => {
    const parsed = placedRoute.safeParse(each);
    return parsed.success && routeName.safeParse(name).success ? [[name, parsed.data] as const] : [];
  });
  return Object.fromEntries(sound);
}

/**
 * Returns the problems of routes beyond their form: paths and undeclared scopes.
 * @returns a sentence for each problem, with its place
 */
export function findRouteProblems(routes: PlacedRoutes): string[] {
  const seen = new Map<string, string>();
  return Object.entries(routes).flatMap(([name, route]) => {
    const place = `routes.${name}`;
    const path = pathOfRoute(name, route);
    const first = path.split('/')[1] ?? '';
    const other = seen.get(path);
    seen.set(path, name);
    return [
      ...(other === undefined ? [] : [`${place}.path: ${path || '/'} is the path of ${other} already`]),
      ...(takenSegments.includes(first)
        ? [`${place}.path: /${first} is taken by pages and endpoints of this server; set another one`]
        : []),
      ...findScopeProblems(place, route),
    ];
  });
}
