import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseSettings, type Settings, type SettingsInput, settingMeantBy } from '../options.ts';
import { SettingsRefused } from '../settings/settings-refused.ts';
import { describeJsonFault } from './json-fault.ts';

/** What the command line sets over the file. */
export interface Overrides {
  port?: number | undefined;
  data?: string | undefined;
  publicUrl?: string | undefined;
  /** Routes beside those of the file. */
  routes?: SettingsInput['routes'];
  /** MCP servers beside those of the file, as a desktop host writes them down; not checked yet. */
  mcpServers?: object | undefined;
}

/** Why a file cannot be read, where the reason says more than that. */
const unreadable: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'this is a folder: name the config file in it',
};

function readFile(file: string): Record<string, unknown> {
  let text: string;
  try {
    // Editors of Windows begin files with a byte order mark, which is no JSON (RFC 8259 section 8.1).
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

/** Names the files of credentials by absolute paths. */
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

/** Whether something can be added to a value; what cannot is for the schema to refuse. */
function mayHold(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** @throws SettingsRefused where a setting that is looked for is not there, and may have been meant by another name */
function refuseMisspelt(written: Record<string, unknown>, names: readonly string[]): void {
  const missing = names.filter((name) => written[name] === undefined);
  const mayMean = (name: string): boolean => {
    const meant = settingMeantBy(name);
    return meant === undefined || (meant !== name && missing.includes(meant));
  };
  if (missing.length > 0 && Object.keys(written).some(mayMean)) parseSettings(written);
}

/**
 * Loads some of the settings of a config file, whatever is wrong with the others: who runs a server has to be able to
 * do what does not depend on them.
 * @param file path of the config file; undefined for none
 * @param names which settings
 * @returns these, with defaults, as {@link loadSettings} has them
 * @throws SettingsRefused where the file or one of these cannot be read, or may have been meant by another name
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
 * Loads the settings: defaults, over them the file, over them the command line.
 * @param file path of the config file; undefined for none
 * @returns settings with `data` and files of secrets as absolute paths
 * @throws SettingsRefused with all problems at once
 */
export function loadSettings(file: string | undefined, overrides: Overrides): Settings {
  return settle(file === undefined ? {} : readFile(file), file, overrides);
}

/** Fills in what was not written, and finds files beside the config file. */
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
    clients: { ...settings.clients, preRegistered },
  };
}
