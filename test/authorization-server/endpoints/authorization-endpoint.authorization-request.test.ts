import { describe, expect, it } from 'vitest';
import {
  completeRequest,
  prepareAuthorization,
} from '../../../src/authorization-server/endpoints/authorization-endpoint.ts';
import { createResourceRegistry } from '../../../src/authorization-server/resources.ts';
import { serveSteps } from '../../support/koa-step.ts';

const resource = 'https://mcp.example.com/mcp';
const registry = createResourceRegistry([
  { resource, name: 'Notes', scopes: { read: 'Read', write: 'Write' }, baselineScopes: ['read'] },
]);

/** What the engine would be given for a query. */
async function prepared(query: string): Promise<{ status: number; query: URLSearchParams }> {
  const url = await serveSteps(
    [
      prepareAuthorization(registry),
      (ctx) => {
        ctx.body = `?${ctx.querystring}`;
      },
    ],
    { maxHeaderSize: 256 * 1024 },
  );
  const response = await fetch(`${url}/authorize?${query}`);
  return { status: response.status, query: new URLSearchParams(await response.text()) };
}

describe('an authorization request', () => {
  it('without a scope asks for the baseline of its resource', async () => {
    for (const query of ['', 'scope=', 'scope=%20', `resource=${encodeURIComponent(resource)}`])
      expect((await prepared(query)).query.get('scope')).toBe('read');
  });

  it('asks for no scope of another resource, unless it asks for nothing else', () => {
    const files = {
      resource: 'https://files.example.com/mcp',
      name: 'Files',
      scopes: { files: 'Files', read: 'Read' },
      baselineScopes: ['files'],
    };
    const both = createResourceRegistry([registry.default, files]);
    const scopeFor = (scope: string, at: string): string | null => {
      const parameters = new URLSearchParams({ scope, resource: at });
      completeRequest(parameters, both);
      return parameters.get('scope');
    };
    expect(scopeFor('read write files openid unknown', files.resource)).toBe('read files openid unknown');
    expect(scopeFor('write', files.resource)).toBe('write');
    expect(scopeFor('read files', resource)).toBe('read');
    expect(scopeFor('read files offline_access', resource)).toBe('read offline_access');
    expect(scopeFor('files openid offline_access', resource)).toBe('read openid offline_access');
  });

  it('for nothing that exists is left for the engine to refuse, without the baseline and without offline_access (T-024)', async () => {
    for (const [scope, kept] of [
      ['unknown offline_access', 'unknown'],
      ['files offline_access', 'files'],
      ['unknown', 'unknown'],
      ['openid unknown offline_access', 'openid unknown offline_access'],
    ] as const)
      expect((await prepared(`scope=${encodeURIComponent(scope)}`)).query.get('scope')).toBe(kept);
    const twice = new URLSearchParams('scope=unknown&scope=offline_access');
    completeRequest(twice, registry);
    expect(twice.getAll('scope')).toEqual(['unknown', 'offline_access']);
  });

  it('for offline_access alone asks for the baseline and that', async () => {
    expect((await prepared('scope=offline_access')).query.get('scope')).toBe('read offline_access');
  });

  it('with a scope, or with two for the engine to refuse, keeps them', async () => {
    expect((await prepared('scope=write%20x')).query.getAll('scope')).toEqual(['write x']);
    expect((await prepared('scope=&scope=')).query.getAll('scope')).toEqual(['', '']);
  });

  it('keeps everything else as it was', async () => {
    const { query } = await prepared('state=a%26b%2B%20c&scope=read&state=second&redirect_uri=x%3Fy%3Dz');
    expect([...query]).toEqual([
      ['state', 'a&b+ c'],
      ['scope', 'read'],
      ['state', 'second'],
      ['redirect_uri', 'x?y=z'],
    ]);
  });

  it('of more than 16 KB is 414, also on a server that would take it (T-022)', async () => {
    expect((await prepared(`scope=read&state=${'x'.repeat(16_368)}`)).status).toBe(414);
    expect((await prepared(`scope=read&state=${'x'.repeat(16_367)}`)).status).toBe(200);
  });
});
