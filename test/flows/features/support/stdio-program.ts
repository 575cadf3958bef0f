import { createLocalEndpoint } from '../../../../src/mcp/stdio/endpoint.ts';
import { createLogger } from '../../../../src/observability/logger.ts';
import { readOwnServer } from '../../../../src/protected-server.ts';
import { formNamed } from './forms.ts';

/** The server of the features on standard input and output; its form is the first argument. */
const issuer = 'http://localhost:3000';
const { source } = readOwnServer(formNamed(process.argv[2]).bring(new Map()), issuer);
const { ended } = createLocalEndpoint({
  source,
  account: { id: 'ada', scopes: ['mcp'] },
  issuer,
  resource: `${issuer}/mcp`,
  stdin: process.stdin,
  stdout: process.stdout,
  logger: createLogger('warn'),
});
await ended;
