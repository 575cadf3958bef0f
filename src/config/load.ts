import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseSettings, type Settings, type SettingsInput, settingMeantBy } from '../options.ts';
import { SettingsRefused } from '../settings/issues.ts';
import type { BackendSettings } from '../settings/routes.ts';

/** Settings of the command line that override the file. */
export interface Overrides {
  port?: number | undefined;
  data?: string | undefined;
  publicUrl?: string | undefined;
  /** Routes in addition to those of the file. */
  routes?: SettingsInput['routes'];
  /** MCP servers in the format of desktop hosts, in addition to those of the file; not yet checked. */
  mcpServers?: object | undefined;
}

/** Causes of unreadable files that need an explanation. */
const unreadable: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'this is a folder: name the config file in it',
};

function readFile(file: string): Record<string, unknown> {
  let text: string;
  try {
    // Windows editors write a byte order mark, which is not JSON (RFC 8259 section 8.1).
    text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const why = unreadable[String((error as NodeJS.ErrnoException).code)] ?? 'the file cannot be read';
    throw new SettingsRefused([`${file}: ${why}`]);
  }
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
      const { $schema: _schema, ...settings } = parsed as Record<string, unknown>;
      return settings;
    }
    throw new SettingsRefused([`${file}: must hold one JSON object`]);
  } catch (error) {
    if (error instanceof SettingsRefused) throw error;
    throw new SettingsRefused([`${file}: is not valid JSON (${describeJsonFault(text, error as Error)})`]);
  }
}

/** Resolves the paths of credential files. */
function withFilesBeside(routes: Settings['routes'], folder: string): Settings['routes'] {
  const resolved = Object.entries(routes).map(([name, route]) => {
    const credentials = Object.entries(route.credentials).map(([of, credential]) => {
      const { from } = credential;
      const isFile = typeof from === 'object' && 'file' in from;
      return [of, isFile ? { ...credential, from: { file: resolve(folder, from.file) } } : credential];
    });
    return [name, { ...route, credentials: Object.fromEntries(credentials) }];
  });
  return Object.fromEntries(resolved);
}

/** Resolves the paths of the files that hold secrets of the database. */
function withSecretFilesBeside(storage: Settings['storage'], folder: string): Settings['storage'] {
  const resolved = (['postgres', 'masterKey'] as const).flatMap((name) => {
    const from = storage[name];
    return typeof from === 'object' && 'file' in from ? [[name, { file: resolve(folder, from.file) }]] : [];
  });
  return { ...storage, ...Object.fromEntries(resolved) };
}

/** Resolves the paths of the file of an export, and of its secret. */
function withExportFilesBeside(given: Settings['export'], folder: string): Settings['export'] {
  const { file, secret } = given;
  return {
    ...given,
    ...(file !== undefined && { file: file === '-' ? file : resolve(folder, file) }),
    ...(secret && 'file' in secret && { secret: { file: resolve(folder, secret.file) } }),
  };
}

/** Returns whether a value can be merged; the schema rejects others. */
function mayHold(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** @throws SettingsRefused if a required setting is missing and may be misspelt */
function refuseMisspelt(written: Record<string, unknown>, names: readonly string[]): void {
  const missing = names.filter((name) => written[name] === undefined);
  const mayMean = (name: string): boolean => {
    const meant = settingMeantBy(name);
    return meant === undefined || (meant !== name && missing.includes(meant));
  };
  if (missing.length > 0 && Object.keys(written).some(mayMean)) parseSettings(written);
}

/**
 * Loads some of the settings of a config file, whatever is wrong with the others: some commands of an operator do not
 * depend on them.
 * @param file path of the config file; undefined for none
 * @param names the settings to load
 * @returns these settings with defaults, as {@link loadSettings} returns them
 * @throws SettingsRefused if the file or one of these settings cannot be read, or may be misspelt
 */
export function loadSome<Name extends keyof Settings>(
  file: string | undefined,
  names: readonly Name[],
): Pick<Settings, Name> {
  const written = file === undefined ? {} : readFile(file);
  refuseMisspelt(written, names);
  const found = names.flatMap((name) => (written[name] === undefined ? [] : [[name, written[name]]]));
  return settle(Object.fromEntries(found), file, {});
}

/**
 * Loads the settings: the command line overrides the file, which overrides the defaults.
 * @param file path of the config file; undefined for none
 * @returns settings with `data` and secret files as absolute paths
 * @throws SettingsRefused with all problems at once
 */
export function loadSettings(file: string | undefined, overrides: Overrides): Settings {
  return settle(file === undefined ? {} : readFile(file), file, overrides);
}

/** Adds defaults and resolves files relative to the config file. */
function settle(fromFile: Record<string, unknown>, file: string | undefined, overrides: Overrides): Settings {
  const { listen = {}, routes = {}, mcpServers = {} } = fromFile;
  const settings = parseSettings({
    ...fromFile,
    ...(overrides.port !== undefined && mayHold(listen)
      ? { listen: { ...listen, port: overrides.port } }
      : undefined),
    ...(overrides.routes && mayHold(routes) ? { routes: { ...routes, ...overrides.routes } } : undefined),
    ...(overrides.mcpServers && mayHold(mcpServers)
      ? { mcpServers: { ...mcpServers, ...overrides.mcpServers } }
      : undefined),
    ...(overrides.data === undefined ? undefined : { data: overrides.data }),
    ...(overrides.publicUrl === undefined ? undefined : { publicUrl: overrides.publicUrl }),
  });
  const base = overrides.data === undefined && file !== undefined ? dirname(resolve(file)) : process.cwd();
  const beside = dirname(resolve(file ?? 'gatehouse.json'));
  const preRegistered = settings.clients.preRegistered.map(({ secretFile, ...client }) => ({
    ...client,
    ...(secretFile === undefined ? undefined : { secretFile: resolve(beside, secretFile) }),
  }));
  const upstreams = Object.entries(settings.upstreams).map(([name, upstream]) => {
    const files = (['clientSecretFile', 'clientKeyFile'] as const).flatMap((key) =>
      upstream[key] === undefined ? [] : [[key, resolve(beside, upstream[key])]],
    );
    return [name, { ...upstream, ...Object.fromEntries(files) }];
  });
  return {
    ...settings,
    routes: withFilesBeside(settings.routes, beside),
    upstreams: Object.fromEntries(upstreams),
    data: resolve(base, settings.data),
    storage: withSecretFilesBeside(settings.storage, beside),
    export: withExportFilesBeside(settings.export, beside),
    clients: { ...settings.clients, preRegistered },
  };
}

/** V8's message about an unexpected character, which repeats the text around it. */
const unexpected = /^Unexpected token '?([\s\S]+?)'?, (\.{3})?"([\s\S]*)"(?:\.{3})? is not valid JSON$/;

/** Number of characters before the unexpected one in V8's excerpt, if it begins in the middle of the text. */
const before = 10;

/**
 * Describes the place and cause of a JSON syntax error without repeating the text, which may be a secret (T-194).
 * @param text the parsed text
 * @param error the error of `JSON.parse`
 */
export function describeJsonFault(text: string, { message }: Error): string {
  const at = /at position (\d+)/.exec(message)?.[1];
  if (at !== undefined)
    return `${message.replace(/ in JSON at position.*$/s, '')}, ${placeOf(text, Number(at))}`;
  if (message === 'Unexpected end of JSON input') return 'it ends too early';
  const [, token = '', cut, shown = ''] = unexpected.exec(message) ?? [];
  const begin = text.indexOf(shown);
  if (shown === '' || begin !== text.lastIndexOf(shown)) return 'it holds something that is none';
  const fault = cut ? begin + before : text.indexOf(token, begin);
  return `Unexpected ${JSON.stringify(token)}, ${placeOf(text, fault)}`;
}

function placeOf(text: string, position: number): string {
  return `line ${text.slice(0, position).split('\n').length}`;
}

/** Placeholder of a secret. */
const hidden = '(set)';

/** Returns settings for display, without secrets (T-194). */
export function showSettings(settings: Settings): Settings {
  const upstreams = Object.entries(settings.upstreams).map(([name, upstream]) => [
    name,
    typeof upstream.clientSecret === 'string' ? { ...upstream, clientSecret: hidden } : upstream,
  ]);
  const routes = Object.entries(settings.routes).map(([name, route]) => [
    name,
    {
      ...route,
      ...(route.backend && { backend: withoutValues(route.backend) }),
      ...(route.backends && { backends: withoutValuesOf(route.backends) }),
    },
  ]);
  const { postgres } = settings.storage;
  return {
    ...settings,
    storage: {
      ...settings.storage,
      ...(typeof postgres === 'string' && { postgres: withoutPassword(postgres) }),
    },
    upstreams: Object.fromEntries(upstreams),
    routes: Object.fromEntries(routes),
  };
}

/** Hides the password of a database URL. */
function withoutPassword(url: string): string {
  const parsed = URL.parse(url);
  if (!parsed) return hidden;
  if (parsed.password !== '') parsed.password = 'set';
  for (const name of parsed.searchParams.keys())
    if (/password/i.test(name)) parsed.searchParams.set(name, 'set');
  return parsed.href;
}

function withoutValuesOf(backends: Record<string, BackendSettings>): Record<string, BackendSettings> {
  return Object.fromEntries(Object.entries(backends).map(([key, backend]) => [key, withoutValues(backend)]));
}

function withoutValues(backend: BackendSettings): BackendSettings {
  if ('url' in backend) return { ...backend, headers: hideTexts(backend.headers) };
  return Array.isArray(backend.env) ? backend : { ...backend, env: hideTexts(backend.env) };
}

/** Hides values; a reference to the location of a secret is shown. */
function hideTexts<Values extends Record<string, unknown>>(values: Values): Values {
  const shown = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? hidden : value,
  ]);
  return Object.fromEntries(shown) as Values;
}
