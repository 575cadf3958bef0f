import { Command } from 'commander';
import { expect, it } from 'vitest';
import { CliError } from '../../../src/cli/cli-error.ts';
import { registerDoctor } from '../../../src/cli/commands/doctor/doctor.ts';
import { registerCall } from '../../../src/cli/commands/mcp-client/call.ts';
import { runLogin } from '../../../src/cli/commands/mcp-client/login.ts';
import { registerPrompts } from '../../../src/cli/commands/mcp-client/prompts.ts';
import { registerResources } from '../../../src/cli/commands/mcp-client/resources.ts';
import { registerTools } from '../../../src/cli/commands/mcp-client/tools.ts';
import { registerWhoami } from '../../../src/cli/commands/mcp-client/whoami.ts';
import type { CommandIo } from '../../../src/cli/output.ts';
import { passiveChecks } from '../../../src/doctor/all-checks.ts';
import { startLoggedIn, testIo } from '../../cli/support/client-commands.ts';
import { serverMetadata } from '../../client/support/protected-server.ts';
import type { Answer } from '../../client/support/scripted-server.ts';

/** Colours, a hyperlink, a title, a C1 control, text turned around, nothing to see, a line of its own. */
const evil =
  'a\u001b[31mb\u001b]8;;https://evil.example\u0007c\u001b]0;t\u001b\\d\u009b2Je\u202ef\u200bg\rh\ni\u{e0041}';

/** What a terminal could act on, or would not show. */
const harmful =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not come through
  /[\x00-\x08\x0B-\x1F\x7F-\x9F\u061C\u200B-\u200F\u202A-\u202E\u2066-\u2069\uFEFF]|[\u{E0000}-\u{E007F}]/u;

/** A server whose every text is hostile. */
async function startHostile() {
  const { as, mcp, ...surroundings } = await startLoggedIn({ scopes: [evil] });
  const place = 'GET /.well-known/oauth-authorization-server';
  as.routes[place] = {
    json: serverMetadata(as.origin, { scopes_supported: [evil], service_documentation: evil }),
  };
  const answers: Record<string, object> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, prompts: {}, resources: {} },
      serverInfo: { name: evil, version: evil, title: evil },
      instructions: evil,
    },
    'tools/list': {
      tools: [
        {
          name: evil,
          title: evil,
          description: evil,
          inputSchema: {
            type: 'object',
            properties: { [evil]: { type: 'string', description: evil, enum: [evil] } },
          },
          annotations: { title: evil, readOnlyHint: true },
        },
      ],
    },
    'prompts/list': {
      prompts: [{ name: evil, description: evil, arguments: [{ name: evil, description: evil }] }],
    },
    'prompts/get': { description: evil, messages: [{ role: 'user', content: { type: 'text', text: evil } }] },
    'resources/list': {
      resources: [{ uri: `file:///${evil}`, name: evil, description: evil, mimeType: evil }],
    },
    'resources/templates/list': {
      resourceTemplates: [{ uriTemplate: `file:///{${evil}}`, name: evil, description: evil }],
    },
    'resources/read': { contents: [{ uri: `file:///${evil}`, mimeType: 'text/plain', text: evil }] },
    'tools/call': {
      content: [
        { type: 'text', text: evil },
        { type: 'resource_link', uri: `file:///${evil}`, name: evil },
      ],
    },
  };
  const guard = mcp.routes['POST /mcp'];
  mcp.routes['POST /mcp'] = (request): Answer => {
    const answer = typeof guard === 'function' ? guard(request) : {};
    if (answer.status !== undefined) return answer;
    const { id, method } = JSON.parse(request.body) as { id: number; method: string };
    const result = answers[method];
    return {
      json: result
        ? { jsonrpc: '2.0', id, result }
        : { jsonrpc: '2.0', id, error: { code: -32601, message: evil, data: evil } },
    };
  };
  return { as, mcp, ...surroundings };
}

/** Runs a command in this process. @returns all it wrote, and what it failed with */
async function run(io: CommandIo, args: readonly string[]): Promise<void> {
  const program = new Command().exitOverride();
  for (const register of [
    registerTools,
    registerPrompts,
    registerResources,
    registerCall,
    registerWhoami,
    registerDoctor,
  ])
    register(program, io);
  await program.parseAsync(['node', 'gatehouse', ...args]).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error;
    io.stderr.write(`${error.message}\n${error.hint ?? ''}\n`);
  });
}

/** Checks that quote metadata. */
const metadataChecks = passiveChecks
  .map(({ id }) => id)
  .filter((id) => /^(?:PRM|CHALLENGE|AS-(?!ENDPOINTS-ANSWER))/.test(id))
  .join(',');

it.each([
  ['tools', []],
  ['tools', ['--json']],
  ['tools', ['--trace']],
  ['prompts', []],
  ['prompts', ['review']],
  ['prompts', ['--json']],
  ['resources', []],
  ['resources', ['file:///a']],
  ['resources', ['--json']],
  ['call', ['work']],
  ['call', ['work', '--json']],
  ['call', ['fails']],
  ['whoami', []],
])(
  'gatehouse %s %j gives a terminal nothing to act on, whatever the server says (T-190)',
  async (name, more) => {
    const { mcp, io, written } = await startHostile();
    await run(io, [name, mcp.url, ...more]);
    const said = `${written.stdout}\n${written.stderr}`;
    expect(said.length).toBeGreaterThan(10);
    expect(said).not.toMatch(harmful);
  },
);

it.each([[[]], [['--json']]])(
  'gatehouse doctor %j gives a terminal nothing to act on (T-190)',
  async (more) => {
    const { mcp, io, written } = await startHostile();
    await run(io, ['doctor', mcp.url, '--only', metadataChecks, '--verbose', ...more]);
    expect(written.stdout).toContain('PRM-SCOPES');
    expect(`${written.stdout}\n${written.stderr}`).not.toMatch(harmful);
  },
);

it('gatehouse login gives a terminal nothing to act on, whatever the server says (T-190)', async () => {
  const { as, mcp } = await startHostile();
  as.routes['POST /register'] = {
    status: 400,
    json: { error: evil, error_description: evil, error_uri: evil },
  };
  const { io, written } = testIo();
  await runLogin(mcp.url, { browser: false }, io).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error;
    written.stderr += `${error.message}\n${error.hint ?? ''}`;
  });
  expect(written.stderr).toMatch(/registration endpoint refused/);
  expect(written.stderr).not.toMatch(harmful);
});
