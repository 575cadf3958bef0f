import { SettingsRefused } from './settings/issues.ts';
import { isRecord } from './settings/scopes.ts';

/** What only code can give to `createGatehouse`, beside the settings of the config file. */
export const partNames = ['storage', 'keys', 'keyRing', 'server', 'backend', 'logger'] as const;

const opened = 'is needed: spread what openDataFolder() of mcp-gatehouse/sqlite gives into the options';

/** What a logger is asked to do. */
const loggerMethods = ['debug', 'info', 'warn', 'error', 'isLevelEnabled'] as const;

function findLoggerProblems(logger: unknown): string[] {
  if (logger === undefined || logger === null) return [];
  const given = logger as Record<string, unknown>;
  const lacking = loggerMethods.filter((name) => typeof given[name] !== 'function');
  return lacking.length === 0
    ? []
    : [
        `logger: has no ${lacking.join(', ')}: give a logger of pino, or leave it out for JSON lines on standard error`,
      ];
}

/**
 * Checks that what nothing works without was given, and that a logger is one: plain JavaScript has no types that say so.
 * @param options what `createGatehouse` was called with
 * @throws SettingsRefused naming every part that is missing or cannot be used
 */
export function checkGivenParts(options: unknown): void {
  if (!isRecord(options))
    throw new SettingsRefused(['options: createGatehouse takes an object: { publicUrl, storage, keys, … }']);
  const missing = (['storage', 'keys'] as const).filter((name) => !isRecord(options[name]));
  const both = options.server && options.backend ? ['backend: goes with no server: give one of them'] : [];
  const problems = [
    ...missing.map((name) => `${name}: ${opened}`),
    ...both,
    ...findLoggerProblems(options.logger),
  ];
  if (problems.length > 0) throw new SettingsRefused(problems);
}
