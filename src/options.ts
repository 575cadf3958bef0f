import { z } from 'zod';
import { isLoopbackHost } from './oauth/redirect-uri.ts';
import { origin, proxy, publicUrl } from './settings/addresses.ts';
import { clientSettings } from './settings/clients.ts';
import { describeIssues, SettingsRefused, whenFieldsValid } from './settings/issues.ts';
import { nearest } from './settings/known-names.ts';
import { limitSettings, loginSettings, mcpSettings, tokenSettings } from './settings/limits.ts';
import { mcpServerSettings, readMcpServers } from './settings/mcp-servers.ts';
import {
  auditSettings,
  callSettings,
  clusterSettings,
  dangerousSettings,
  exportSettings,
  listenSettings,
  logSettings,
  metricsSettings,
  rotationSettings,
  schedulingSetting,
  traceSettings,
} from './settings/operation.ts';
import { resourceSettings } from './settings/resources.ts';
import { findRouteProblems, routeSettings, validRoutes } from './settings/routes.ts';
import { withBaselineRule } from './settings/rule-advice.ts';
import { isRecord } from './settings/scopes.ts';
import { storageSettings } from './settings/storage.ts';
import { tokenExchangeSettings, trustedIssuerSettings } from './settings/trusted-issuers.ts';
import { findPlainUrls, upstreamSettings } from './settings/upstreams.ts';

/**
 * The settings, in the order of the reference. To add one: write it with its default and description in its file of
 * `settings/`, run `npm run reference`, and pass it on where it is used: in `composition/authorization-server.ts`,
 * `composition/mcp-endpoint.ts` or `composition/upkeep.ts`, or in the options type of a backend (`StdioBackendOptions`).
 */
const settings = z.strictObject({
  publicUrl: publicUrl.optional(),
  listen: listenSettings,
  scheduling: schedulingSetting,
  data: z
    .string()
    .min(1)
    .default('./data')
    .describe(
      'Folder of the database and the key file, relative to the config file; with PostgreSQL, of what belongs to this machine alone.',
    ),
  storage: storageSettings,
  cluster: clusterSettings,
  trustedProxies: z
    .array(proxy)
    .default([])
    .describe(
      'Trusted proxies, whose X-Forwarded-For is used: addresses, CIDR ranges, loopback, linklocal, uniquelocal.',
    ),
  allowedOrigins: z
    .array(origin)
    .default([])
    .describe(
      'Allowed origins of browser clients of the MCP endpoint, besides our own and, on localhost, loopback ones.',
    ),
  tokens: tokenSettings,
  routes: routeSettings,
  mcpServers: mcpServerSettings,
  resources: resourceSettings,
  trustedIssuers: trustedIssuerSettings,
  tokenExchange: tokenExchangeSettings,
  upstreams: upstreamSettings,
  clients: clientSettings,
  login: loginSettings,
  limits: limitSettings,
  mcp: mcpSettings,
  rotation: rotationSettings,
  audit: auditSettings,
  calls: callSettings,
  export: exportSettings,
  log: logSettings,
  metrics: metricsSettings,
  trace: traceSettings,
  dangerously: dangerousSettings,
});

/** Every setting with its default and description, for the config file, the library and the reference. */
export const settingsSchema = settings
  .superRefine(({ clients }, context) => {
    if (clients.sealedIds && clients.registration === 'approval')
      context.addIssue({
        code: 'custom',
        path: ['clients', 'sealedIds'],
        message:
          'does not go with registration: approval, because nothing is stored that an operator could approve',
      });
  }, whenFieldsValid('clients'))
  .superRefine(
    ({ upstreams, dangerously }, context) => {
      if (dangerously.upstreamsOverHttp) return;
      for (const place of findPlainUrls(upstreams))
        context.addIssue({
          code: 'custom',
          path: ['upstreams', ...place.split('.')],
          message:
            'must begin with https:// (http:// is for development on one machine, with dangerously.upstreamsOverHttp)',
        });
    },
    whenFieldsValid('upstreams', 'dangerously'),
  )
  .superRefine(
    ({ publicUrl: url, dangerously }, context) => {
      const host = url === undefined ? undefined : URL.parse(url)?.hostname;
      if (host === undefined || isLoopbackHost(host)) return;
      for (const [name] of Object.entries(dangerously).filter(([, value]) => value))
        context.addIssue({
          code: 'custom',
          path: ['dangerously', name],
          message: 'is for development: leave it out, or use a publicUrl on localhost',
        });
    },
    whenFieldsValid('publicUrl', 'dangerously'),
  );

/** Returns the setting of a name, or of the nearest misspelled one. @returns undefined if none is near */
export function settingMeantBy(name: string): string | undefined {
  return nearest(name, Object.keys(settings.shape));
}

/** Settings as written: all are optional. */
export type SettingsInput = z.input<typeof settingsSchema>;

/** Settings with their defaults filled in. */
export type Settings = z.output<typeof settingsSchema>;

/**
 * Validates settings and fills in the defaults. Moves `mcpServers` into `routes`, and adds scope rules to routes that
 * declare scopes.
 * @param namesBeside other known option names, to suggest them for a misspelled name
 * @throws SettingsRefused with all problems at once, and the nearest name for a misspelled one
 */
export function parseSettings(input: unknown, namesBeside: readonly string[] = []): Settings {
  // Settings are parsed once: to compile the schema first would take longer.
  const parsed = settingsSchema.safeParse(input, { jitless: true });
  if (!parsed.success)
    throw new SettingsRefused([
      ...describeIssues(parsed.error.issues, { schema: settingsSchema, input, namesBeside }),
      ...findProblemsOfSound(input),
    ]);
  const { data } = parsed;
  const imported = readMcpServers(data.mcpServers, Object.keys(data.routes));
  const routes = { ...data.routes, ...routeSettings.parse(imported.routes) };
  const problems = [...imported.problems, ...findRouteProblems(routes)];
  if (problems.length > 0) throw new SettingsRefused(problems);
  const guarded = Object.entries(routes).map(([name, route]) => [name, withBaselineRule(route)]);
  return { ...data, routes: Object.fromEntries(guarded), mcpServers: {} };
}

/** Finds problems between routes, and between servers of hosts, that are each valid. */
function findProblemsOfSound(input: unknown): string[] {
  if (!isRecord(input)) return [];
  const { routes, mcpServers } = input;
  const servers = mcpServerSettings.safeParse(mcpServers);
  const imported = readMcpServers(servers.data ?? {}, Object.keys(routes ?? {}));
  const sound = { ...validRoutes(routes), ...validRoutes(imported.routes) };
  return [...imported.problems, ...findRouteProblems(sound)];
}
