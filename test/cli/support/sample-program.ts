import { Command, Option } from 'commander';

/** A command line with everything that can be completed. */
export function sampleProgram(): Command {
  const program = new Command('sample');
  program
    .command('reach')
    .description("reach a server: any server's")
    .addOption(new Option('--transport <name>', 'which way').choices(['http', 'sse']))
    .option('--file <path>', 'a file')
    .option('--json', 'print JSON')
    .addOption(new Option('--hidden', 'not shown').hideHelp());
  const account = program.command('account').description('people');
  account.command('add').description('add one').option('--quiet', 'say nothing');
  account.command('list').description('list them');
  return program;
}
