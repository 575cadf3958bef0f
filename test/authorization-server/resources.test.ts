import { errors } from 'oidc-provider';
import { describe, expect, it } from 'vitest';
import { undecidedResource } from '../../src/authorization-server/engine/granted-scopes.ts';
import { createResourceRegistry, toResourceServer } from '../../src/authorization-server/resources.ts';

const notes = {
  resource: 'https://mcp.example.com/notes',
  name: 'Notes',
  scopes: { 'notes:read': 'Read notes', 'notes:write': 'Write notes' },
  baselineScopes: ['notes:read'],
};
const mail = {
  ...notes,
  resource: 'https://mcp.example.com/mail',
  name: 'Mail',
  scopes: { 'mail:read': 'Read mail' },
};
const registry = createResourceRegistry([notes, mail]);

describe('a request that names no resource', () => {
  it('means the server that alone has its scopes, an undecided one where none or several do (FA-20)', () => {
    expect(registry.findUnnamed(['mail:read'])).toBe(mail);
    const [open, unfitting] = [registry.findUnnamed([]), registry.findUnnamed(['mail:read', 'notes:read'])];
    expect([open.resource, unfitting.resource]).toEqual([
      undecidedResource.unscoped,
      undecidedResource.scoped,
    ]);
    expect(open.choices).toEqual([notes, mail]);
    expect(registry.find(open.resource)).toBe(open);
  });

  it('never means a resource at another origin, and the only server without a choice (FA-20)', () => {
    const elsewhere = { ...mail, resource: 'https://elsewhere.example/mcp', scopes: { 'else:read': 'Read' } };
    const alone = createResourceRegistry([notes, elsewhere]);
    expect(alone.findUnnamed([])).toBe(notes);
    expect(alone.findUnnamed(['else:read'])).toBe(notes);
    expect(alone.find(undecidedResource.scoped)).toBeUndefined();
  });
});

describe('the registry', () => {
  it.each([
    'https://mcp.example.com/notes',
    'https://mcp.example.com/notes/',
    'HTTPS://MCP.EXAMPLE.COM/notes',
    'https://mcp.example.com:443/notes',
  ])('finds a resource by any spelling that means it: %s (A7-02)', (indicator) => {
    expect(registry.find(indicator)).toBe(notes);
  });

  it.each([
    '',
    'notes',
    '/notes',
    'https://mcp.example.com',
    'https://mcp.example.com/NOTES',
    'https://mcp.example.com/notes/more',
    'https://mcp.example.com/notes?tenant=1',
    'https://mcp.example.com/notes#a',
    'https://mcp.example.com/notes//',
    'https://mcp.example.com//',
    'https://user@mcp.example.com/notes',
    'http://mcp.example.com/notes',
    'https://mcp.example.com:8443/notes',
    'javascript:alert(1)',
    '__proto__',
  ])('finds nothing for %j (T-023)', (indicator) => {
    expect(registry.find(indicator)).toBeUndefined();
  });

  it.each([
    'https://mcp.example.com/tools',
    'https://mcp.example.com/tools/',
    'https://mcp.example.com',
    'https://mcp.example.com/',
    'HTTPS://MCP.example.com:443',
  ])('takes %s for the only resource there is: the issuer or its origin (A7-02)', (indicator) => {
    const only = { ...notes, resource: 'https://mcp.example.com/tools/mcp' };
    const sameServer = { ...only, resource: 'https://mcp.example.com/tools/sse' };
    expect(createResourceRegistry([only]).find(indicator)).toBe(only);
    expect(createResourceRegistry([only, sameServer]).find(indicator)).toBe(only);
  });

  it.each([
    'https://mcp.example.com//',
    'https://mcp.example.com/tools//',
    'https://mcp.example.com/tools/mcp//',
  ])('takes %s for nothing: exactly one slash at the end is left out (FA-14)', (indicator) => {
    const only = { ...notes, resource: 'https://mcp.example.com/tools/mcp' };
    expect(createResourceRegistry([only]).find(indicator)).toBeUndefined();
  });

  it('takes the folder of a server for it, and no folder or origin that several stand below (A7-02, T-023)', () => {
    const [calendar, files] = ['calendar', 'files'].map((name) => ({
      ...notes,
      resource: `https://mcp.example.com/tools/${name}/mcp`,
      scopes: { [name]: 'Use it.' },
    })) as [typeof notes, typeof notes];
    const several = createResourceRegistry([calendar, files]);
    expect(several.find('https://mcp.example.com/tools/calendar')).toBe(calendar);
    expect(several.find('https://mcp.example.com/tools/files/')).toBe(files);
    for (const shared of ['https://mcp.example.com/tools', 'https://mcp.example.com'])
      expect(several.find(shared)).toBeUndefined();
  });

  it('has others in their place from the moment they are replaced, and stays as it is where they cannot be', () => {
    const changing = createResourceRegistry([notes]);
    changing.replace([mail]);
    expect(changing.find(notes.resource)).toBeUndefined();
    expect(changing.find(mail.resource)).toBe(mail);
    expect(changing.default).toBe(mail);
    expect(changing.scopes).toEqual(['mail:read']);
    expect(() => changing.replace([])).toThrow('at least one protected resource');
    expect(changing.default).toBe(mail);
  });

  it.each([
    'https://mcp.example.com/tool',
    'https://mcp.example.com/tools/mcp/more',
    'https://mcp.example.com/tools?tenant=1',
    'https://example.com',
    'http://mcp.example.com',
    'https://mcp.example.com:8443',
    '',
  ])('does not take %j for the only resource there is (T-023)', (indicator) => {
    const only = { ...notes, resource: 'https://mcp.example.com/tools/mcp' };
    expect(createResourceRegistry([only]).find(indicator)).toBeUndefined();
  });

  it('has the first for clients that name none, and every scope once (A7-06)', () => {
    expect(registry.default).toBe(notes);
    expect(registry.scopes).toEqual(['notes:read', 'notes:write', 'mail:read']);
  });

  it('cannot be empty, and takes canonical URLs alone', () => {
    expect(() => createResourceRegistry([])).toThrow('at least one protected resource');
    expect(() => createResourceRegistry([{ ...notes, resource: 'https://MCP.example.com/notes' }])).toThrow(
      'not a canonical resource URL',
    );
  });
});

describe('what the engine is told of a resource', () => {
  const identity = ['openid', 'offline_access'];

  it('is its audience, its scopes, and that its tokens are opaque (T-023)', () => {
    expect(toResourceServer(notes, 'notes:read', identity, 600)).toEqual({
      scope: 'notes:read notes:write',
      audience: notes.resource,
      accessTokenFormat: 'opaque',
      accessTokenTTL: 600,
    });
  });

  it('is invalid_target where there is none (T-023)', () => {
    expect(() => toResourceServer(undefined, 'notes:read', identity, 600)).toThrow(errors.InvalidTarget);
  });

  it('is invalid_scope where nothing that was asked for exists there, of another resource included (T-024)', () => {
    for (const scope of ['admin', 'mail:read', 'admin mail:read'])
      expect(() => toResourceServer(notes, scope, identity, 600)).toThrow(errors.InvalidScope);
    for (const scope of ['admin notes:read', 'openid', 'offline_access', '', undefined])
      expect(() => toResourceServer(notes, scope, identity, 600)).not.toThrow();
  });
});
