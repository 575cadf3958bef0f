import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { register } from '../oauth.ts';
import { decide } from '../person.ts';
import { type Program, runProgram } from '../program.ts';
import { type Relay, startRelay } from '../relay.ts';
import { type Served, serveGatehouse } from '../served.ts';
import { readScenarios, type SuiteOutcome, suiteProgram } from './outcome.ts';

/** How the suite's client authenticates at the token endpoint. */
export type ClientAuthentication = 'none' | 'client_secret_basic' | 'client_secret_post';

/** The scenarios for authorization servers that have to pass. */
export const authorizationScenarios = [
  'authorization-server-metadata-endpoint',
  'authorization-code-grant',
] as const;

/**
 * The suite uses `none` wherever the metadata lists it. So that it authenticates, a relay in front of the server
 * leaves the one method in the metadata; the server itself is as it always is.
 */
async function serveFor(method: ClientAuthentication): Promise<{ served: Served; relay: Relay | undefined }> {
  if (method === 'none') return { served: await serveGatehouse(), relay: undefined };
  const relay = await startRelay({
    document: (path, document) =>
      path.startsWith('/.well-known/') && 'token_endpoint_auth_methods_supported' in document
        ? { ...document, token_endpoint_auth_methods_supported: [method] }
        : document,
  });
  const served = await serveGatehouse(['--public-url', relay.url]);
  relay.relayTo(served.port);
  return { served, relay };
}

/** Does what the suite asks the person to do; gives an empty text. */
async function answerCallback(program: Program): Promise<string> {
  const [url] = await program.waitFor('stdout', /^(http\S+\?response_type=code\S+)$/m);
  await program.waitFor('stdout', /^Callback server started/m);
  await fetch(await decide(url));
  return '';
}

/**
 * Runs the official suite for authorization servers against a gatehouse of its own: registers the suite's client,
 * takes the authorization URL it prints, logs in, consents, and hands the answer to its callback.
 * @param method how the suite's client authenticates
 */
export async function runAuthorizationSuite(method: ClientAuthentication): Promise<SuiteOutcome> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-conformance-'));
  const { served, relay } = await serveFor(method);
  try {
    const port = await freePort();
    const client = await register(served.url, {
      client_name: 'MCP conformance suite',
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
      token_endpoint_auth_method: method,
    });
    const settings = join(folder, 'settings.json');
    await writeFile(
      settings,
      JSON.stringify({
        url: served.url,
        port,
        resource: served.mcpUrl,
        clientId: client.client_id,
        clientSecret: client.client_secret,
      }),
      { mode: 0o600 },
    );
    const program = runProgram(suiteProgram, ['authorization', '--file', settings, '--port', String(port)], {
      input: '',
    });
    const answered = answerCallback(program).catch(async (error) => {
      await program.stop();
      return `\nThe authorization was not completed: ${error instanceof Error ? error.message : error}\n`;
    });
    try {
      const [code, failure] = await Promise.all([program.ended, answered]);
      const report = `${program.written.stdout}${program.written.stderr}${failure}`;
      const scenarios = readScenarios(report);
      const complete = authorizationScenarios.every((name) =>
        scenarios.some((scenario) => scenario.name === name && scenario.passed > 0 && scenario.failed === 0),
      );
      return { scenarios, passed: code === 0 && complete, report };
    } finally {
      await program.stop();
    }
  } finally {
    await relay?.stop();
    await served.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
