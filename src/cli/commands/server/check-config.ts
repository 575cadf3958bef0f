import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { shellWord } from '../../../client/quote.ts';
import { findUnfitRules, findUnusableRoutes } from '../../../composition/settings-check.ts';
import { loadSettings, showSettings } from '../../../config/load.ts';
import { SettingsRefused } from '../../../settings/issues.ts';
import { adviseOnSettings } from '../../../settings-advice.ts';
import { adviseOnFolder, inspectDataFolder } from '../../../storage/sqlite/index.ts';
import { findUnusable } from '../../../upstream/examination/configured.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { parsePort } from '../../option-parsers.ts';
import { type CommandIo, formatJson, processIo, programName } from '../../output.ts';
import { describeMissingDatabase, type InstallationOptions, isOnPostgres } from '../operator/installation.ts';
import { upstreamsOf } from '../operator/upstream.ts';

interface CheckConfigOptions extends InstallationOptions {
  port?: number;
  publicUrl?: string;
  json?: boolean;
  print?: boolean;
}

/** Loads the settings, and requires that the server can start with them. @throws SettingsRefused */
async function loadUsable(
  options: CheckConfigOptions,
  io: CommandIo,
): Promise<ReturnType<typeof loadSettings>> {
  const settings = loadSettings(options.config, options);
  const upstreams = upstreamsOf(settings);
  const unusable = [
    ...(await findUnusable(upstreams, io)),
    ...(await findUnusableRoutes(settings, io.env)),
    ...findUnfitRules(settings, upstreams.publicUrl),
  ];
  if (unusable.length > 0) throw new SettingsRefused(unusable);
  return settings;
}

/** Warns of a config file in the current folder, which neither this command nor `serve` reads by itself. */
function unreadFile({ config }: CheckConfigOptions): string[] {
  const usual = 'gatehouse.json';
  return config === undefined && existsSync(resolve(usual))
    ? [
        `${usual} in this folder was not read. serve does not read it either, unless you give --config ${usual}`,
      ]
    : [];
}

/** Registers `gatehouse check-config`. */
export function registerCheckConfig(program: Command, io: CommandIo = processIo()): void {
  program
    .command('check-config')
    .description('check the settings and the data folder of your server, and change nothing')
    .option(
      '--config <file>',
      'config file of the server (default: none, so all settings have their defaults)',
    )
    .option('--data <folder>', 'data folder of the server')
    .option('--port <port>', 'port that serve uses instead of the setting', parsePort)
    .option('--public-url <url>', 'public URL that serve uses instead of the setting')
    .option('--print', 'print all settings with their defaults filled in')
    .option('--json', 'print JSON')
    .action(async (options: CheckConfigOptions) => {
      const settings = await loadUsable(options, io).catch((error: unknown) => {
        if (options.json && error instanceof SettingsRefused)
          io.stdout.write(formatJson({ problems: error.problems }));
        throw error;
      });
      const isElsewhere = isOnPostgres(settings);
      const warnings = [
        ...unreadFile(options),
        ...adviseOnSettings(settings),
        ...(isElsewhere ? [] : adviseOnFolder(settings.data)),
      ];
      const data = isElsewhere ? { state: 'elsewhere' as const } : await inspectDataFolder(settings.data);
      if (data.state === 'new' && data.keysFrom !== undefined)
        warnings.push(
          `${describeMissingDatabase(settings.data, data.keysFrom)}: the next start creates a new one, without accounts and logins. If there was one before, restore a backup first.`,
        );
      if (options.json) io.stdout.write(formatJson({ settings: showSettings(settings), warnings, data }));
      else {
        if (options.config === undefined) io.stdout.write('No --config was given: these are the defaults.\n');
        if (options.print) io.stdout.write(formatJson(showSettings(settings)));
        for (const warning of warnings) io.stdout.write(`Warning: ${warning}\n`);
        if (data.state === 'new' && data.keysFrom === undefined)
          io.stdout.write(`The first start creates ${settings.data}.\n`);
        if (data.state === 'ready' && data.upgrade)
          io.stdout.write(
            `The next start upgrades the database from schema ${data.upgrade.from} to ${data.upgrade.to}; earlier versions cannot use it afterwards. Make a backup first: ${programName} backup before-upgrade --data ${shellWord(settings.data)}\n`,
          );
        if (data.state !== 'faulty') io.stdout.write('The settings can be used.\n');
      }
      if (data.state === 'faulty') throw new CliError(data.fault, exitCodes.cannotServe);
    });
}
