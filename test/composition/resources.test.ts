import { describe, expect, it } from 'vitest';
import { composeResources, ownResources } from '../../src/composition/resources.ts';
import { callerFields } from '../../src/oauth/caller-fields.ts';
import { parseSettings } from '../../src/options.ts';
import { readOwnServer } from '../../src/protected-server.ts';
import { SettingsRefused } from '../../src/settings/issues.ts';

const issuer = 'https://mcp.example.com/base';
const own = ownResources(issuer);
const server = readOwnServer(
  {
    create: () => Promise.reject(new Error('nobody calls')),
    name: 'Notes',
    scopes: { a: 'A.', b: 'B.' },
    baselineScopes: ['a'],
  },
  issuer,
);
const elsewhere = { resource: 'https://files.example.com/mcp', name: 'Files', scopes: { f: 'F.' } };

describe('the resources of an installation', () => {
  it('are first its own, by the URL of each family of transports, with what is set of tokens', () => {
    const resources = composeResources(
      parseSettings({ tokens: { format: 'jwt', dpop: { required: true } }, resources: [elsewhere] }),
      [{ own, server }],
    );
    expect(resources.map(({ resource }) => resource)).toEqual([
      `${issuer}/mcp`,
      `${issuer}/sse`,
      `${issuer}/rest`,
      elsewhere.resource,
    ]);
    expect(resources[1]).toEqual({
      resource: `${issuer}/sse`,
      name: 'Notes',
      learns: [...callerFields, 'claims'],
      scopes: { a: 'A.', b: 'B.' },
      baselineScopes: ['a'],
      dpopRequired: true,
      accessTokenFormat: 'jwt',
    });
    expect(resources[3]).toMatchObject({
      dpopRequired: true,
      baselineScopes: ['f'],
      learns: ['auth_time', 'amr'],
    });
  });

  it('elsewhere take only bound tokens where the MCP endpoint does, unless an entry says otherwise (FA-16)', () => {
    const dpopOf = (required: boolean, dpopRequired?: boolean) => {
      const entry = dpopRequired === undefined ? elsewhere : { ...elsewhere, dpopRequired };
      const settings = parseSettings({ tokens: { dpop: { required } }, resources: [entry] });
      return composeResources(settings, [])[0]?.dpopRequired;
    };
    expect([dpopOf(true), dpopOf(false), dpopOf(true, false), dpopOf(false, true)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });

  it('are those of every route, each with its own name and scopes', () => {
    const files = { ...server, name: 'Files', scopes: { f: 'F.' }, baselineScopes: ['f'] };
    const resources = composeResources(parseSettings({}), [
      { own: ownResources(`${issuer}/notes`), server },
      { own: ownResources(`${issuer}/files`), server: files },
    ]);
    expect(resources.map(({ resource, name }) => [resource, name])).toEqual([
      [`${issuer}/notes/mcp`, 'Notes'],
      [`${issuer}/notes/sse`, 'Notes'],
      [`${issuer}/notes/rest`, 'Notes'],
      [`${issuer}/files/mcp`, 'Files'],
      [`${issuer}/files/sse`, 'Files'],
      [`${issuer}/files/rest`, 'Files'],
    ]);
    expect(resources[3]).toMatchObject({ scopes: { f: 'F.' }, baselineScopes: ['f'] });
  });

  it('name the arguments of calls that the ledger keeps, unless there is no ledger', () => {
    const recording = { arguments: 'full', keep: [], required: false } as const;
    const kept = (settings: object) =>
      composeResources(parseSettings(settings), [{ own, server, route: { recording } }])[0]?.keptArguments;
    expect(kept({})).toBe('full');
    expect(kept({ calls: { store: 'off' } })).toBeUndefined();
  });

  it('may not be set as living elsewhere', () => {
    const settings = parseSettings({ resources: [{ ...elsewhere, resource: `${issuer}/rest` }] });
    expect(() => composeResources(settings, [{ own, server }])).toThrow(SettingsRefused);
  });
});
