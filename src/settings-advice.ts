import { isLoopbackHost } from './oauth/redirect-uri.ts';
import type { Settings } from './options.ts';
import { describeMissingProgram, findWithheldVariables } from './settings/backends/program-advice.ts';
import { findIdleScopes, findKeylessRules, findOpenRest } from './settings/rule-advice.ts';
import { worldReadableMode } from './upstream/open-to-others.ts';

/** The settings that the advice is about. */
export type AdvisedSettings = Pick<
  Settings,
  'publicUrl' | 'listen' | 'trustedProxies' | 'dangerously' | 'routes' | 'clients' | 'upstreams'
>;

/** Advice with its condition. */
const advice: readonly { isDue: (settings: AdvisedSettings) => boolean; says: string }[] = [
  {
    isDue: ({ publicUrl, trustedProxies }) =>
      publicUrl?.startsWith('https:') === true && trustedProxies.length === 0,
    says: 'publicUrl is https, so a proxy is in front, but trustedProxies is empty: all clients count as one address. List the proxy there.',
  },
  {
    isDue: ({ publicUrl, listen }) =>
      !isLoopbackHost(listen.host) && (publicUrl === undefined || publicUrl.startsWith('http:')),
    says: 'listen.host can be reached from other machines, but publicUrl is on localhost: they cannot log in. Set publicUrl to the https address of this server, or listen on 127.0.0.1.',
  },
];

/** Advises on a public URL that ends with the path of an endpoint. */
function doubledPublicUrl({ publicUrl = '' }: AdvisedSettings): string[] {
  const [, before] = /^(.*)\/(?:mcp|sse|rest)$/.exec(publicUrl) ?? [];
  return before === undefined
    ? []
    : [
        `publicUrl (${publicUrl}): /mcp, /sse and /rest are added to it, so the MCP endpoint is ${publicUrl}/mcp. Set ${before} to have it at ${before}/mcp.`,
      ];
}

/**
 * Advises an operator on settings that are valid, but probably not intended.
 * @param settings settings with their defaults
 * @param environment environment variables that programs may be given; those of this process by default
 * @returns sentences that say what to do
 */
export function adviseOnSettings(
  settings: AdvisedSettings,
  environment: NodeJS.ProcessEnv = process.env,
): string[] {
  const dangers = Object.entries(settings.dangerously).filter(([, isOn]) => isOn);
  return [
    ...advice.filter(({ isDue }) => isDue(settings)).map(({ says }) => says),
    ...doubledPublicUrl(settings),
    ...adviseOnRoutes(settings.routes, environment),
    ...openSecretsOf(settings),
    ...dangers.map(([name]) => `dangerously.${name} is on: this installation is for development only`),
  ];
}

/**
 * Advises an operator on routes, such as new ones.
 * @param environment environment variables that programs may be given; those of this process by default
 */
export function adviseOnRoutes(
  routes: AdvisedSettings['routes'],
  environment: NodeJS.ProcessEnv = process.env,
): string[] {
  return [
    ...placeholdersOf(routes),
    ...missingProgramsOf(routes, environment),
    ...withheldVariablesOf(routes, environment),
    ...doubledPathsOf(routes),
    ...idleScopesOf(routes),
    ...openRestsOf(routes),
    ...keylessRulesOf(routes),
    ...openMethodsOf(routes),
  ];
}

/** The complete scopes of a server that the code provides. */
interface OwnScopes {
  scopes: Readonly<Record<string, string>>;
  baselineScopes: readonly string[];
  scopeRules: { readonly otherwise?: readonly string[] };
  methods?: Readonly<Record<string, readonly string[]>>;
}

/** Advises a developer on the scopes of a server that the code provides. */
export function adviseOnOwnServer({ scopes, baselineScopes, scopeRules, methods = {} }: OwnScopes): string[] {
  const open = Object.keys(methods);
  const opened = open.length > 0 ? [`server.methods: ${listed(open)} pass beside the methods of MCP.`] : [];
  if (Object.keys(scopes).length === 0 || scopeRules.otherwise !== undefined) return opened;
  // Scopes that tools declare in code are known only once a server is created.
  return [
    ...opened,
    `server.scopeRules: whatever neither a rule nor declareScopes names is open to every login, whatever it was granted. Set server.scopeRules.otherwise to what it needs, such as ${JSON.stringify(baselineScopes)}, or to [] if that is intended.`,
  ];
}

/** Advises on missing programs: their routes are served, but each call fails. */
function missingProgramsOf(routes: AdvisedSettings['routes'], environment: NodeJS.ProcessEnv): string[] {
  return everyBackend(routes).flatMap(({ at, backend }) => {
    if (!('command' in backend)) return [];
    const ownPath = Array.isArray(backend.env) ? undefined : backend.env.PATH;
    const missing = describeMissingProgram(backend.command, ownPath ?? environment.PATH);
    return missing ? [`${at}.command (${backend.command}): ${missing}.`] : [];
  });
}

/** Advises on variables that a program needs for its download. Their values may be secrets and are not shown. */
function withheldVariablesOf(routes: AdvisedSettings['routes'], environment: NodeJS.ProcessEnv): string[] {
  return everyBackend(routes).flatMap(({ at, backend }) => {
    if (!('command' in backend)) return [];
    const isList = Array.isArray(backend.env);
    const given = isList ? (backend.env as string[]) : Object.keys(backend.env);
    const withheld = findWithheldVariables(backend.command, given, environment);
    if (withheld.length === 0) return [];
    const [verb, them] = withheld.length === 1 ? ['is', 'it'] : ['are', 'them'];
    const how = isList
      ? `by name in ${at}.env, or with ${withheld.map((name) => `--env ${name}`).join(' ')} for gatehouse protect`
      : `with a value in ${at}.env`;
    return [
      `${at}.command (${backend.command}): ${withheld.join(', ')} ${verb} set here, but not passed to it, so its download may hang silently. Pass ${them} ${how}.`,
    ];
  });
}

/** Advises on paths that end with the path of an endpoint: `/notes/mcp` is served at `/notes/mcp/mcp`. */
function doubledPathsOf(routes: AdvisedSettings['routes']): string[] {
  return Object.entries(routes).flatMap(([name, { path }]) => {
    const [, before, end] = /^(.*)\/(mcp|sse|rest)$/.exec(path ?? '') ?? [];
    if (path === undefined || end === undefined) return [];
    return [
      `routes.${name}.path (${path}): /mcp, /sse and /rest are added to it, so it is served at ${path}/mcp. Set ${before || '/'} to serve it at ${before}/mcp.`,
    ];
  });
}

/** Advises on scopes that users grant but nothing requires. */
function idleScopesOf(routes: AdvisedSettings['routes']): string[] {
  return Object.entries(routes).flatMap(([name, route]) =>
    findIdleScopes(route).map(
      (scope) =>
        `routes.${name}.scopes.${scope}: no rule names it, so nothing needs it. Name it in routes.${name}.scopeRules: tools, prompts, resources, or otherwise for all that is not named.`,
    ),
  );
}

/** Advises on tools, prompts and resources that no scope rule names, so that they are open to everybody. */
function openRestsOf(routes: AdvisedSettings['routes']): string[] {
  return Object.entries(routes).flatMap(([name, route]) => {
    const rest = findOpenRest(route);
    if (!rest) return [];
    const { unnamed, named, baseline } = rest;
    const parts = [
      ...(unnamed.length > 0 ? [`all ${listed(unnamed)}`] : []),
      ...(named.length > 0 ? [`${listed(named)} that no rule names`] : []),
    ];
    const open = parts.length > 1 ? `${parts.join(', and ')},` : parts[0];
    const place = `routes.${name}.scopeRules`;
    return [
      `${place}: ${open} are open to every login, whatever it was granted. Set ${place}.otherwise to what they need, such as ${JSON.stringify(baseline)}, or to [] if that is intended.`,
    ];
  });
}

function listed(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' and ');
}

/** Advises on rules with names that cannot exist, because a route with several backends prefixes all names. */
function keylessRulesOf(routes: AdvisedSettings['routes']): string[] {
  return Object.entries(routes).flatMap(([name, route]) =>
    findKeylessRules(route).map(
      ({ place, meant }) =>
        `routes.${name}.${place}: it matches nothing, because all names there begin with the key of their backend. Did you mean ${meant.join(' or ')}?`,
    ),
  );
}

/** Advises on opened methods that MCP does not define: rules for tools and resources do not apply to them. */
function openMethodsOf(routes: AdvisedSettings['routes']): string[] {
  return Object.entries(routes).flatMap(([name, { policy, scopeRules, scopes }]) =>
    Object.entries(policy.methods).map(([method, own]) => {
      const needed = own.length > 0 ? own : (scopeRules?.otherwise ?? (scopes ? [] : ['mcp']));
      const who = needed.length > 0 ? `callers with ${needed.join(' ')}` : 'every login';
      return `routes.${name}.policy.methods: ${method} is open to ${who}; no rule for tools, prompts or resources applies to it.`;
    }),
  );
}

/** Advises on secret files that every user of the machine can read (T-163). */
function openSecretsOf({ clients, upstreams }: AdvisedSettings): string[] {
  const files = [
    ...clients.preRegistered.map(({ secretFile }) => secretFile),
    ...Object.values(upstreams).flatMap(({ clientSecretFile, clientKeyFile }) => [
      clientSecretFile,
      clientKeyFile,
    ]),
  ];
  return files.flatMap((file) => {
    const mode = file === undefined ? undefined : worldReadableMode(file);
    return mode === undefined
      ? []
      : [`${file} can be read by others (mode ${mode}): chmod 600 ${JSON.stringify(file)}`];
  });
}

/** Placeholders that desktop hosts replace: `${NAME}`, `${input:name}`. */
const placeholder = /\$\{[\w:.-]+\}/;

/** Advises on settings of backends with a placeholder. The values may be secrets and are not shown. */
function placeholdersOf(routes: AdvisedSettings['routes']): string[] {
  return everyBackend(routes).flatMap(({ at, backend }) => {
    const isProgram = 'command' in backend;
    const given = isProgram
      ? {
          ...prefixed('args', backend.args),
          ...(Array.isArray(backend.env) ? {} : prefixed('env', backend.env)),
        }
      : { url: backend.url, ...prefixed('headers', backend.headers) };
    return Object.entries(given)
      .filter(([, value]) => typeof value === 'string' && placeholder.test(value))
      .map(
        ([place]) =>
          `${at}.${place}: contains a placeholder such as \${NAME}, which is not expanded: the backend gets it unchanged. Write the value${isProgram ? ', or name the variable in env' : ''}.`,
      );
  });
}

/** Lists the backends of all routes with their setting. */
function everyBackend(routes: AdvisedSettings['routes']) {
  return Object.entries(routes).flatMap(([name, route]) =>
    placedBackends(route).map(({ place, backend }) => ({ at: `routes.${name}.${place}`, backend })),
  );
}

function placedBackends({ backend, backends = {} }: AdvisedSettings['routes'][string]) {
  const several = Object.entries(backends).map(([key, each]) => ({
    place: `backends.${key}`,
    backend: each,
  }));
  return backend ? [{ place: 'backend', backend }] : several;
}

function prefixed(place: string, values: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`${place}.${name}`, value]));
}
