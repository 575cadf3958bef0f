import { expect, it } from 'vitest';
import { findUnfitRules } from '../../src/composition/settings-check.ts';
import { parseSettings, type SettingsInput } from '../../src/options.ts';

const publicUrl = 'https://mcp.example.com';
const backend = { command: 'notes-server' };
const notes = { backend, scopes: { 'notes:read': 'Read notes.' } };
const app = (scopes: string[]) => ({
  clientId: 'app',
  name: 'App',
  redirectUris: ['https://app.example/callback'],
  scopes,
});

/** The settings that are found, without their problems. */
function found(settings: SettingsInput): string[] {
  return findUnfitRules(parseSettings(settings), publicUrl).map((problem) => problem.split(':')[0] ?? '');
}

it('rules of scopes and resources there are not are found, all at once', () => {
  const elsewhere = { name: 'Elsewhere', scopes: { a: 'A.' } };
  expect(
    found({
      routes: { notes },
      resources: [
        { ...elsewhere, resource: `${publicUrl}/notes/mcp` },
        { ...elsewhere, resource: 'https://else.example' },
      ],
      clients: { preRegistered: [app(['notes:read', 'a']), { ...app(['notes:rite']), clientId: 'other' }] },
      upstreams: {
        work: {
          issuer: 'https://idp.example',
          clientId: 'c',
          clientSecret: 's',
          resources: [`${publicUrl}/nots/mcp`],
        },
      },
    }),
  ).toEqual(['resources.0.resource', 'clients.preRegistered.1.scopes', 'upstreams.work.resources']);
});

it('a server at the public URL itself counts as there where no route is', () => {
  const upstreams = {
    work: {
      issuer: 'https://idp.example',
      clientId: 'c',
      clientSecret: 's',
      resources: [`${publicUrl}/mcp`],
    },
  };
  const clients = { preRegistered: [app(['mcp'])] };
  expect(found({ routes: { notes }, upstreams, clients })).toEqual([]);
  expect(found({ routes: { notes: { ...notes, path: '/' } }, upstreams, clients })).toEqual([
    'clients.preRegistered.0.scopes',
  ]);
});

it('another server at the public URL itself may be set as a resource, and none counts as there then', () => {
  const resources = [{ resource: `${publicUrl}/mcp`, name: 'Beside', scopes: { a: 'A.' } }];
  expect(found({ routes: { notes }, resources })).toEqual([]);
  expect(found({ routes: { notes: { ...notes, path: '/' } }, resources })).toEqual(['resources.0.resource']);
  const clients = { preRegistered: [app(['a', 'notes:read']), { ...app(['mcp']), clientId: 'other' }] };
  expect(found({ routes: { notes }, resources, clients })).toEqual(['clients.preRegistered.1.scopes']);
});

it('where no route is, which scopes and resources there are is not known', () => {
  const upstreams = {
    work: {
      issuer: 'https://idp.example',
      clientId: 'c',
      clientSecret: 's',
      resources: ['https://any.example'],
    },
  };
  const none = { ...app(['any']), authMethod: 'client_secret_basic' as const, secretFile: '/no/such/file' };
  expect(found({ upstreams, clients: { preRegistered: [app(['any'])] } })).toEqual([]);
  expect(found({ clients: { preRegistered: [none] } })).toEqual(['clients.preRegistered.0.secretFile']);
});
