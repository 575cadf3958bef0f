import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { findUnfitRules } from '../../../composition/unfit-rules.ts';
import { findUnusableRoutes } from '../../../composition/unusable-routes.ts';
import { loadSettings, showSettings } from '../../../config/load.ts';
import { SettingsRefused } from '../../../settings/issues.ts';
import { adviseOnSettings } from '../../../settings-advice.ts';
import { adviseOnFolder, inspectDataFolder } from '../../../storage/sqlite/index.ts';
import { findUnusable } from '../../../upstream/examination/configured.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { programName, shellWord } from '../../command-text.ts';
import { parsePort } from '../../option-parsers.ts';
import { type CommandIo, formatJson, processIo } from '../../output.ts';
import { describeMissingDatabase, type InstallationOptions } from '../operator/installation.ts';
import { upstreamsOf } from '../operator/upstream.ts';

interface CheckConfigOptions extends InstallationOptions {
  port?: number;
  publicUrl?: string;
  json?: boolean;
  print?: boolean;
}

/** Loads settings that the server would start with. @throws SettingsRefused with what is wrong */
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

/** A config file that lies where the command runs is not read by itself, by `serve` neither. */
function unreadFile({ config }: CheckConfigOptions): string[] {
  const usual = 'gatehouse.json';
  return config === undefined && existsSync(resolve(usual))
    ? [
        `${usual} lies in this folder and was not read, nor does serve read it unless it is named: --config ${usual}`,
      ]
    : [];
}

/** Registers `gatehouse check-config`. @param io its surroundings; those of the process by default */
export function registerCheckConfig(program: Command, io: CommandIo = processIo()): void {
  program
    .command('check-config')
    .description('check the settings and the data folder of your server, and change nothing')
    .option(
      '--config <file>',
      'config file of the server (default: none, so all settings have their defaults)',
    )
    .option('--data <folder>', 'data folder of the server')
    .option('--port <port>', 'port that serve is given over the settings', parsePort)
    .option('--public-url <url>', 'public URL that serve is given over the settings')
    .option('--print', 'print all settings with their defaults filled in')
    .option('--json', 'print JSON')
    .action(async (options: CheckConfigOptions) => {
      const settings = await loadUsable(options, io).catch((error: unknown) => {
        if (options.json && error instanceof SettingsRefused)
          io.stdout.write(formatJson({ problems: error.problems }));
        throw error;
      });
      const warnings = [
        ...unreadFile(options),
        ...adviseOnSettings(settings),
        ...adviseOnFolder(settings.data),
      ];
      const data = await inspectDataFolder(settings.data);
      if (data.state === 'new' && data.keysFrom !== undefined)
        warnings.push(
          `${describeMissingDatabase(settings.data, data.keysFrom)}: the next start makes a new one, without accounts and logins. If there was one before, restore a backup first.`,
        );
      if (options.json) io.stdout.write(formatJson({ settings: showSettings(settings), warnings, data }));
      else {
        if (options.config === undefined)
          io.stdout.write('No config file is named with --config: these are the defaults.\n');
        if (options.print) io.stdout.write(formatJson(showSettings(settings)));
        for (const warning of warnings) io.stdout.write(`Warning: ${warning}\n`);
        if (data.state === 'new' && data.keysFrom === undefined)
          io.stdout.write(`The first start makes ${settings.data}.\n`);
        if (data.state === 'ready' && data.upgrade)
          io.stdout.write(
            `The next start brings the database from schema ${data.upgrade.from} to ${data.upgrade.to}, which earlier versions do not know. Make a backup first: ${programName} backup before-upgrade --data ${shellWord(settings.data)}\n`,
          );
        if (data.state !== 'faulty') io.stdout.write('The settings can be used.\n');
      }
      if (data.state === 'faulty') throw new CliError(data.fault, exitCodes.cannotServe);
    });
}
