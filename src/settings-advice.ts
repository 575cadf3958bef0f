import { isLoopbackHost } from './oauth/redirect-uri.ts';
import type { Settings } from './options.ts';
import { describeMissingProgram, findWithheldVariables } from './settings/backends/program-advice.ts';
import { findIdleScopes, findKeylessRules, findOpenRest } from './settings/rule-advice.ts';
import { openToOthers } from './upstream/open-to-others.ts';

/** What advice looks at. */
export type AdvisedSettings = Pick<
  Settings,
  'publicUrl' | 'listen' | 'trustedProxies' | 'dangerously' | 'routes' | 'clients' | 'upstreams'
>;

/** Each piece of advice: when it is due, and what it says. */
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

/** A public URL that ends as the endpoints behind it begin. */
function doubledPublicUrl({ publicUrl = '' }: AdvisedSettings): string[] {
  const [, before] = /^(.*)\/(?:mcp|sse|rest)$/.exec(publicUrl) ?? [];
  return before === undefined
    ? []
    : [
        `publicUrl (${publicUrl}): /mcp, /sse and /rest are put behind it, so the MCP endpoint is ${publicUrl}/mcp. Set ${before} to have it at ${before}/mcp.`,
      ];
}

/**
 * What an operator should know about settings that can be used, but probably not as they are.
 * @param settings with defaults filled in
 * @param environment that programs are given variables of; ours by default
 * @returns sentences that say what to do; none where there is nothing to say
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
    ...dangers.map(([name]) => `dangerously.${name} is on: this installation is for development alone`),
  ];
}

/**
 * What an operator should know about routes alone, such as those that are new.
 * @param environment that programs are given variables of; ours by default
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

/** The scopes of a server that was brought, filled in. */
interface OwnScopes {
  scopes: Readonly<Record<string, string>>;
  baselineScopes: readonly string[];
  scopeRules: { readonly otherwise?: readonly string[] };
  methods?: Readonly<Record<string, readonly string[]>>;
}

/** What those who brought a server should know about its scopes. */
export function adviseOnOwnServer({ scopes, baselineScopes, scopeRules, methods = {} }: OwnScopes): string[] {
  const open = Object.keys(methods);
  const opened = open.length > 0 ? [`server.methods: ${listed(open)} pass beside the methods of MCP.`] : [];
  if (Object.keys(scopes).length === 0 || scopeRules.otherwise !== undefined) return opened;
  // Which tools have theirs in the code is known once a server is made.
  return [
    ...opened,
    `server.scopeRules: what neither a rule nor the code beside a tool names is open to every login, whatever it was granted. Set server.scopeRules.otherwise to what it needs, such as ${JSON.stringify(baselineScopes)}, or to [] where that is meant.`,
  ];
}

/** Programs that are not there now: their routes are served, and each call of them fails. */
function missingProgramsOf(routes: AdvisedSettings['routes'], environment: NodeJS.ProcessEnv): string[] {
  return everyBackend(routes).flatMap(({ at, backend }) => {
    if (!('command' in backend)) return [];
    const ownPath = Array.isArray(backend.env) ? undefined : backend.env.PATH;
    const missing = describeMissingProgram(backend.command, ownPath ?? environment.PATH);
    return missing ? [`${at}.command (${backend.command}): ${missing}.`] : [];
  });
}

/** Programs that cannot download from here what they are to run. The values of the variables may be secrets: they are not shown. */
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
      `${at}.command (${backend.command}): ${withheld.join(', ')} ${verb} set here, but not handed over to it, so its download may hang without a word. Hand ${them} over ${how}.`,
    ];
  });
}

/** Paths that end as the endpoints behind them begin: `/notes/mcp` is served at `/notes/mcp/mcp`. */
function doubledPathsOf(routes: AdvisedSettings['routes']): string[] {
  return Object.entries(routes).flatMap(([name, { path }]) => {
    const [, before, end] = /^(.*)\/(mcp|sse|rest)$/.exec(path ?? '') ?? [];
    if (path === undefined || end === undefined) return [];
    return [
      `routes.${name}.path (${path}): /mcp, /sse and /rest are put behind it, so it is served at ${path}/mcp. Set ${before || '/'} to serve it at ${before}/mcp.`,
    ];
  });
}

/** Scopes that people grant, and that open nothing. */
function idleScopesOf(routes: AdvisedSettings['routes']): string[] {
  return Object.entries(routes).flatMap(([name, route]) =>
    findIdleScopes(route).map(
      (scope) =>
        `routes.${name}.scopes.${scope}: no rule names it, so nothing needs it. Name it in routes.${name}.scopeRules: tools, prompts, resources, or otherwise for all that is not named.`,
    ),
  );
}

/** What rules of scopes do not name, and so leave to everybody. */
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
      `${place}: ${open} are open to every login, whatever it was granted. Set ${place}.otherwise to what they need, such as ${JSON.stringify(baseline)}, or to [] where that is meant.`,
    ];
  });
}

function listed(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), words.at(-1)].filter(Boolean).join(' and ');
}

/** Rules for names that nothing has where several backends are one. */
function keylessRulesOf(routes: AdvisedSettings['routes']): string[] {
  return Object.entries(routes).flatMap(([name, route]) =>
    findKeylessRules(route).map(
      ({ place, meant }) =>
        `routes.${name}.${place}: it holds for nothing, as all names there begin with the key of their backend. Did you mean ${meant.join(' or ')}?`,
    ),
  );
}

/** Methods that MCP does not define and that were opened by name: rules for tools and resources do not see them. */
function openMethodsOf(routes: AdvisedSettings['routes']): string[] {
  return Object.entries(routes).flatMap(([name, { policy, scopeRules, scopes }]) =>
    Object.entries(policy.methods).map(([method, own]) => {
      const needed = own.length > 0 ? own : (scopeRules?.otherwise ?? (scopes ? [] : ['mcp']));
      const who = needed.length > 0 ? `callers with ${needed.join(' ')}` : 'every login';
      return `routes.${name}.policy.methods: ${method} is open to ${who}; no rule for tools, prompts or resources looks into it.`;
    }),
  );
}

/** Files of secrets that every user of the machine can read (T-163). */
function openSecretsOf({ clients, upstreams }: AdvisedSettings): string[] {
  const files = [
    ...clients.preRegistered.map(({ secretFile }) => secretFile),
    ...Object.values(upstreams).flatMap(({ clientSecretFile, clientKeyFile }) => [
      clientSecretFile,
      clientKeyFile,
    ]),
  ];
  return files.flatMap((file) => {
    const mode = file === undefined ? undefined : openToOthers(file);
    return mode === undefined
      ? []
      : [`${file} can be read by others (mode ${mode}): chmod 600 ${JSON.stringify(file)}`];
  });
}

/** What desktop hosts put a value in the place of: `${NAME}`, `${input:name}`. */
const placeholder = /\$\{[\w:.-]+\}/;

/** Settings of backends that hold one. The values are secrets: they are not shown. */
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
          `${at}.${place}: a placeholder such as \${NAME} stands there, and nothing is expanded: the backend gets it as it is. Write the value${isProgram ? ', or name the variable in env' : ''}.`,
      );
  });
}

/** Each backend of all routes, with the place it is at. */
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
