import { Command, CommanderError } from 'commander';
import { CliError } from '../../../src/cli/cli-error.ts';
import { registerStdio } from '../../../src/cli/commands/stdio.ts';
import { createNotesServer, notesScopes } from '../../../src/mcp/notes/index.ts';
import { createLocalEndpoint } from '../../../src/mcp/stdio/local-endpoint.ts';
import { createLogger } from '../../../src/observability/logger.ts';

/** `gatehouse stdio` with the notes server, in a process of its own. */
const program = new Command('gatehouse').exitOverride();
registerStdio(program, ({ storage, accountId, stdin, stdout, log }) => {
  const now = (): number => Math.floor(Date.now() / 1000);
  const source = createNotesServer({ notes: storage.notes, now });
  const url = 'http://localhost:3000/mcp';
  console.log('what a tool writes to the console');
  return createLocalEndpoint({
    source,
    account: { id: accountId, scopes: Object.keys(notesScopes) },
    issuer: 'http://localhost:3000',
    resource: { url, metadataUrl: 'http://localhost:3000/.well-known/oauth-protected-resource/mcp' },
    stdin,
    stdout,
    logger: createLogger(log.level),
  });
});
try {
  await program.parseAsync(process.argv);
} catch (error) {
  if (error instanceof CliError) {
    process.stderr.write(`${error.message}\n${error.hint ?? ''}\n`);
    process.exitCode = error.exitCode;
  } else if (!(error instanceof CommanderError)) throw error;
}
