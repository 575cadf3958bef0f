import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/options.ts';
import { cacheSettings, policySettings, recordingSettings } from '../../src/settings/policy.ts';
import { backendsOf, credentialsFor, pathOfRoute } from '../../src/settings/routes.ts';

const backend = { command: 'notes-server' };

describe('the setting for routes', () => {
  it('names none unless the operator does, and needs a backend alone', () => {
    expect(parseSettings({}).routes).toEqual({});
    expect(parseSettings({ routes: { notes: { backend } } }).routes.notes).toEqual({
      backend: {
        command: 'notes-server',
        args: [],
        env: [],
        maxAnswerValues: 50_000,
        pingSeconds: 30,
        maxProcesses: 50,
        process: 'session',
        idleSeconds: 3600,
        spare: 0,
      },
      policy: policySettings.parse(undefined),
      cache: cacheSettings.parse(undefined),
      credentials: {},
      calls: recordingSettings.parse(undefined),
    });
  });

  it.each([
    ['routes.b.path', { a: { backend, path: '/b' }, b: { backend } }, '/b is the path of a already'],
    ['routes.account.path', { account: { backend } }, 'taken by pages and endpoints'],
    ['routes.a.path', { a: { backend, path: '/token/x' } }, '/token is taken'],
    ['routes.a.baselineScopes', { a: { backend, baselineScopes: ['b'] } }, 'has no "b"'],
    ['routes.Notes', { Notes: { backend } }, 'lower case'],
    ['routes.notes.path', { notes: { backend, path: '/notes/' } }, 'without a slash at its end'],
    ['routes.notes.path', { notes: { backend, path: '/../etc' } }, 'must be a path'],
    ['routes.notes.backend', { notes: {} }, 'set either backend, or backends'],
    ['routes.notes.backend', { notes: { backend, backends: { a: backend } } }, 'set either backend'],
    ['routes.notes.backends', { notes: { backends: {} } }, 'one or more'],
    ['routes.notes.backends.a_b', { notes: { backends: { a_b: backend } } }, 'beginning with a letter'],
    [
      'routes.notes.backends.a.commnd',
      { notes: { backends: { a: { commnd: 'a' } } } },
      'did you mean command?',
    ],
    [
      'routes.notes.credentials.key.backend',
      { notes: { backends: { a: backend }, credentials: { key: { as: { env: 'KEY' } } } } },
      'must name the backend it is for: one of a',
    ],
    [
      'routes.notes.credentials.key.backend',
      { notes: { backend, credentials: { key: { backend: 'a', as: { env: 'KEY' } } } } },
      'leave it out',
    ],
    [
      'routes.notes.credentials.key.as',
      {
        notes: { backends: { a: backend }, credentials: { key: { backend: 'a', as: { header: 'x-key' } } } },
      },
      'must be env for a program',
    ],
    ['routes.notes.backend.commnd', { notes: { backend: { commnd: 'a' } } }, 'did you mean command?'],
    ['routes.notes.backend.env', { notes: { backend: { ...backend, env: ['A B'] } } }, 'name of a variable'],
    ['routes.notes.scopes', { notes: { backend, scopes: {} } }, 'at least one scope'],
    ['routes.notes.scopeRules.tool', { notes: { backend, scopeRules: { tool: {} } } }, 'did you mean tools?'],
    [
      'routes.notes.credentials.key.as',
      {
        notes: {
          backend: { url: 'https://notes.example/mcp', headers: { 'X-Key': 'of the operator' } },
          credentials: { key: { as: { header: 'x-key' } } },
        },
      },
      'stands in headers of the backend already',
    ],
    ['routes.notes.polcy', { notes: { backend, polcy: {} } }, 'did you mean policy?'],
  ])('names %s where it is wrong', (place, routes, sentence) => {
    expect(() => parseSettings({ routes })).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(`${place}[^\n]*${sentence.replace(/[?]/g, '\\?')}`),
      }),
    );
  });
});

it('a route is at its name, at the path it has, or at the public URL itself', () => {
  expect(pathOfRoute('notes', {})).toBe('/notes');
  expect(pathOfRoute('notes', { path: '/team/notes' })).toBe('/team/notes');
  expect(pathOfRoute('notes', { path: '/' })).toBe('');
});

it('a route has one backend, or several by their keys, each with its own credentials and no other’s', () => {
  const url = 'https://a.example/mcp';
  const { one, many } = parseSettings({
    routes: {
      one: { backend, credentials: { key: { as: { env: 'KEY' } } } },
      many: {
        backends: { a: backend, b: { url } },
        credentials: {
          ofA: { backend: 'a', as: { env: 'KEY' } },
          ofB: { backend: 'b', as: { header: 'x-key' } },
        },
      },
    },
  }).routes;
  if (!one || !many) throw new Error('they are there');
  expect(backendsOf(one)).toMatchObject([{ key: undefined, place: 'backend', backend }]);
  expect(backendsOf(many)).toMatchObject([
    { key: 'a', place: 'backends.a', backend },
    { key: 'b', place: 'backends.b', backend: { url } },
  ]);
  expect(Object.keys(credentialsFor(one.credentials, undefined))).toEqual(['key']);
  expect(Object.keys(credentialsFor(many.credentials, 'a'))).toEqual(['ofA']);
  expect(Object.keys(credentialsFor(many.credentials, 'b'))).toEqual(['ofB']);
});
