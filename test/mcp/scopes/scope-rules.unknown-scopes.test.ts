import { McpServer } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import { declareScopes, unknownScopesOf, warnOfUnknownScopes } from '../../../src/mcp/scopes/scope-rules.ts';
import { fromFactory } from '../../../src/mcp/sdk/server-factory.ts';
import { createLogger } from '../../../src/observability/logger.ts';

const create = () =>
  declareScopes(new McpServer({ name: 'a', version: '1' }), {
    tools: { add: ['notes:add'], both: ['notes:add', 'notes:read'] },
    resources: { 'notes://': ['notes:look'] },
  });

it('scopes that are declared and nobody can be granted are found', () => {
  expect(unknownScopesOf(create(), ['notes:read'])).toEqual(['notes:add', 'notes:look']);
  const inside = new McpServer({ name: 'a', version: '1' });
  declareScopes(inside.server, { prompts: { p: ['x'] } });
  expect(unknownScopesOf(inside, [])).toEqual(['x']);
});

it('each is warned of once, however many servers are made', async () => {
  const log: string[] = [];
  const logger = createLogger('warn', (line) => log.push(line));
  const source = warnOfUnknownScopes(fromFactory(create, 'each'), ['notes:read'], logger);
  await source.create({ era: 'legacy' });
  await source.create({ era: 'modern' });
  expect(log.map((line) => JSON.parse(line).scope)).toEqual(['notes:add', 'notes:look']);
});
