import type { Command } from 'commander';

/** The options every command of an operator takes. @returns the command, for more options and its action */
export function operatorCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option('--data <folder>', 'data folder of the server (default: ./data)')
    .option('--config <file>', 'config file of the server')
    .option('--json', 'print JSON');
}

/** A time as tables show it. @param epochSeconds undefined gives a dash */
export function isoTime(epochSeconds: number | undefined): string {
  return epochSeconds === undefined ? '-' : new Date(epochSeconds * 1000).toISOString();
}
