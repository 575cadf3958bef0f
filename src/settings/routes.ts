import { z } from 'zod';
import { backendKeyForm } from '../gateway/aggregate/final-names.ts';
import { remoteBackendSettings } from './backends/remote.ts';
import { stdioBackendSettings } from './backends/stdio.ts';
import { type CredentialSettings, credentialSettings, findMisplaced } from './credentials.ts';
import { cacheSettings, policySettings } from './policy.ts';
import { findScopeProblems, scopeListSetting, scopeRulesSettings, scopesSetting } from './scopes.ts';
import { whereSound } from './issues.ts';

const routeName = z.string().regex(/^[a-z0-9-]{1,32}$/, {
  error: 'must be a name of 1 to 32 lower case letters, digits and hyphens',
});

const backendSetting = z.union([stdioBackendSettings, remoteBackendSettings]);

const backendKey = z.string().regex(backendKeyForm, {
  error: 'must be a name of 1 to 20 lower case letters, digits and hyphens, beginning with a letter',
});

/** An MCP server behind the gate, at a path of its own. */
const route = z.strictObject({
  path: z
    .string()
    .regex(/^\/([a-z0-9-]+(\/[a-z0-9-]+)*)?$/, {
      error:
        'must be a path of lower case letters, digits and hyphens such as /notes, without a slash at its end',
    })
    .optional()
    .describe(
      'where it is, below publicUrl, with /mcp, /sse and /rest behind it; / and its name where left out',
    ),
  name: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'what people call it; stands on the consent page; its name here where left out, or for / the host of publicUrl',
    ),
  backend: backendSetting
    .optional()
    .describe('the MCP server: a program (command), or one by its address (url)'),
  backends: z
    .record(backendKey, backendSetting)
    .optional()
    .describe(
      'in place of backend: several MCP servers as one, by names that stand before those of their tools (files_read) and resources (files+file:///a)',
    ),
  scopes: scopesSetting
    .optional()
    .describe('its scopes, each with the sentence the consent page shows; one, mcp, where left out'),
  baselineScopes: scopeListSetting
    .optional()
    .describe('what a client gets that asks for nothing in particular; all scopes where left out'),
  scopeRules: scopeRulesSettings.optional().describe('which scopes its tools, prompts and resources need'),
  policy: policySettings,
  cache: cacheSettings,
  credentials: credentialSettings,
});

/** The setting for MCP servers behind the gate. */
export const routeSettings = z
  .record(
    routeName,
    route.superRefine(
      (given, context) => {
        for (const { place, message } of findBackendProblems(given))
          context.addIssue({ code: 'custom', path: place, message });
      },
      whereSound('backend', 'backends', 'credentials'),
    ),
  )
  .default({})
  .describe(
    'MCP servers behind the gate, by name: each has a path of its own, and is a protected resource of its own.',
  );

/** One of the backends of a route. */
export interface PlacedBackend {
  /** Its key, where there are several. */
  key: string | undefined;
  /** Where it stands in the settings of the route. */
  place: string;
  backend: BackendSettings;
}

/** A backend, as it was set. */
export type BackendSettings = z.output<typeof backendSetting>;

/** Gives the backends of a route: one, or several by their keys. */
export function backendsOf({
  backend,
  backends = {},
}: Pick<z.output<typeof route>, 'backend' | 'backends'>): PlacedBackend[] {
  if (backend) return [{ key: undefined, place: 'backend', backend }];
  return Object.entries(backends).map(([key, each]) => ({ key, place: `backends.${key}`, backend: each }));
}

/** Gives the credentials that are for one of the backends of a route. @param key undefined where it is the only one */
export function credentialsFor(credentials: CredentialSettings, key: string | undefined): CredentialSettings {
  return Object.fromEntries(Object.entries(credentials).filter(([, { backend }]) => backend === key));
}

interface Problem {
  place: string[];
  message: string;
}

/** Finds what is wrong with the backends of a route, and with credentials they would not see. */
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
    ...misplaced.map((place) => ({
      place: ['credentials', ...place.split('.')],
      message: 'must be env for a program, header for a server by URL, or auth for one that speaks rest',
    })),
  ];
}

/** First segments of paths that are not for routes: pages and endpoints of ours stand there. */
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

/** Routes, as they are written: everything that has a default may be left out. */
export type RoutesInput = NonNullable<z.input<typeof routeSettings>>;

/** Routes, as they were set. */
export type RoutesSettings = z.output<typeof routeSettings>;

/** Gives the path of a route, below the public URL: empty for `/`. @param name the name of the route */
export function pathOfRoute(name: string, { path = `/${name}` }: { path?: string | undefined }): string {
  return path === '/' ? '' : path;
}

/** What is looked at across routes, and across the settings of one. */
const placedRoute = z.object(
  route.pick({ path: true, scopes: true, baselineScopes: true, scopeRules: true }).shape,
);

type PlacedRoutes = Record<string, z.output<typeof placedRoute>>;

/**
 * Gives of routes that were not accepted those of which path and scopes are right by themselves.
 * @param given as they are written
 */
export function soundRoutes(given: unknown): PlacedRoutes {
  const sound = Object.entries(given ?? {}).flatMap(([name, each]) => {
    const parsed = placedRoute.safeParse(each);
    return parsed.success && routeName.safeParse(name).success ? [[name, parsed.data] as const] : [];
  });
  return Object.fromEntries(sound);
}

/**
 * Finds what is wrong with routes beside their form: paths, and scopes that nobody declared.
 * @returns a sentence a problem, with the place it is at
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
