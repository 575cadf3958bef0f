import { describe, expect, it } from 'vitest';
import { contentChecks } from '../../../src/doctor/resource/content-checks.ts';
import { examined } from '../support/examine.ts';
import { routeNames, startServer } from '../support/server.ts';

/** Judges a document with some members changed. */
async function published(members: Record<string, unknown>, challenge?: string) {
  const server = await startServer({
    fault: (changed) => {
      changed.publish(routeNames.protectedResource, members);
      if (challenge !== undefined)
        changed.change(routeNames.mcp, (reply) => ({ ...reply, headers: { 'www-authenticate': challenge } }));
    },
  });
  return examined(server.url, contentChecks);
}

describe('the document', () => {
  it.each([
    ['a number', 7, 'PRM-RESOURCE-FORM', '"resource" is "7"'],
    ['nothing', undefined, 'PRM-RESOURCE-FORM', '"resource" is missing'],
    ['a relative URL', '/mcp', 'PRM-RESOURCE-FORM', '"resource" is "/mcp"'],
    ['http elsewhere', 'http://mcp.example.com/mcp', 'PRM-RESOURCE-FORM', 'not https'],
  ])('whose "resource" is %s is refused', async (_what, resource, id, saw) => {
    const found = await published({ resource });
    expect(found.bad()).toEqual([`fail ${id}`]);
    expect(found.finding(id).saw).toContain(saw);
    expect(found.finding('PRM-RESOURCE')).toMatchObject({ verdict: 'skip', because: id });
  });

  it.each([
    ['text', 'https://login.example.com'],
    ['missing', undefined],
    ['no URL', ['login']],
    ['http elsewhere', ['http://login.example.com']],
  ])('whose "authorization_servers" is %s leads nowhere', async (_what, servers) => {
    const found = await published({ authorization_servers: servers });
    expect(found.bad()).toEqual(['fail PRM-SERVERS']);
  });

  it.each([
    ['http://10.1.2.3', 'Put TLS in front'],
    ['login.example.com', 'an absolute https URL'],
  ])('that names the authorization server %j is told what mends that', async (server, fix) => {
    const found = await published({ authorization_servers: [server] });
    expect(found.finding('PRM-SERVERS').fix).toContain(fix);
  });

  it('need not name scopes and bearer methods', async () => {
    const found = await published({ scopes_supported: undefined, bearer_methods_supported: undefined });
    expect(found.bad()).toEqual([]);
    expect(found.finding('PRM-SCOPES').verdict).toBe('skip');
    expect(found.finding('PRM-BEARER-METHODS').verdict).toBe('skip');
  });

  it('names scopes as a list', async () => {
    expect((await published({ scopes_supported: 'a b' })).bad()).toEqual(['fail PRM-SCOPES']);
  });

  it('and the challenge say the same of DPoP (RFC 9728 section 2)', async () => {
    const dpop = 'DPoP algs="ES256"';
    expect((await published({}, dpop)).finding('PRM-DPOP').verdict).toBe('warn');
    const both = await published({ dpop_bound_access_tokens_required: true }, dpop);
    expect(both.finding('PRM-DPOP').verdict).toBe('pass');
  });

  it('is quoted, never copied: what a server writes cannot act on a terminal (T-190)', async () => {
    const found = await published({ resource: 'https://a/\u001b[31m\u202e' });
    const { saw } = found.finding('PRM-RESOURCE-FORM');
    for (const bad of ['\u001b', '\u202e']) expect(saw).not.toContain(bad);
  });
});
