import { describe, expect, it } from 'vitest';
import { parseSettings } from '../src/options.ts';
import { SettingsRefused } from '../src/settings/issues.ts';

function problemsOf(input: unknown): readonly string[] {
  try {
    parseSettings(input);
  } catch (error) {
    if (error instanceof SettingsRefused) return error.problems;
    throw error;
  }
  return [];
}

describe('settings', () => {
  it('may all be left out', () => {
    const settings = parseSettings({});
    expect(settings.publicUrl).toBeUndefined();
    expect(settings.listen).toEqual({ host: '127.0.0.1', port: 3000 });
    expect(settings.tokens).toEqual({
      accessTokenSeconds: 3600,
      codeSeconds: 60,
      refreshTokenSeconds: 2_592_000,
      grantSeconds: 15_552_000,
      refreshGraceSeconds: 120,
      repeatFromOtherAddress: 'allow',
      format: 'opaque',
      dpop: { required: false, requireNonce: false },
    });
  });

  it('set in part keep the other defaults', () => {
    const { tokens, limits } = parseSettings({
      tokens: { codeSeconds: 30 },
      limits: { registrations: { times: 1 } },
    });
    expect(tokens).toMatchObject({ codeSeconds: 30, accessTokenSeconds: 3600 });
    expect(limits.registrations).toEqual({ times: 1, windowSeconds: 600 });
  });

  it('report all problems at once, each by its place', () => {
    const problems = problemsOf({
      publicUrl: 'ftp://x',
      listen: { port: 70_000 },
      tokens: { codeSeconds: 0, accessTokenSeconds: '1h' },
      trustedProxies: ['everybody'],
      log: { level: 'loud' },
    });
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'publicUrl',
      'listen.port',
      'trustedProxies.0',
      'tokens.accessTokenSeconds',
      'tokens.codeSeconds',
      'log.level',
    ]);
    expect(() => parseSettings({ log: { level: 'loud' } })).toThrow(
      /^The settings cannot be used:\n- log\.level: /,
    );
  });

  it('report what does not go together beside what is wrong by itself', () => {
    const backend = { command: 'notes-server' };
    const problems = problemsOf({
      publicUrl: 'https://x.example',
      listen: 7,
      dangerously: { fetchFromLoopback: true },
      clients: { sealedIds: true, registration: 'approval' },
      upstreams: { work: { issuer: 'http://idp.example', clientId: 'c', clientSecret: 's' } },
      routes: {
        account: { backend: { command: '' } },
        notes: { backend, scopes: { a: 'A.' }, baselineScopes: ['b'], policy: { readOnly: 'yes' } },
        both: { backend, backends: { one: backend }, path: '/notes', cache: 1 },
        wrong: { backend, path: 'wrong', baselineScopes: ['b'] },
      },
      mcpServers: { Wrong: { command: 'a' }, '!': { command: 'b' } },
    });
    expect(problems.map((problem) => problem.split(': ')[0]).toSorted()).toEqual([
      'clients.sealedIds',
      'dangerously.fetchFromLoopback',
      'listen',
      'mcpServers.!',
      'mcpServers.Wrong',
      'routes.account.backend.command',
      'routes.account.path',
      'routes.both.backend',
      'routes.both.cache',
      'routes.both.path',
      'routes.notes.baselineScopes',
      'routes.notes.policy.readOnly',
      'routes.wrong.path',
      'upstreams.work.issuer',
    ]);
  });

  it('of which one is wrong by itself are not said not to go with it', () => {
    const upstreams = { work: { issuer: 'http://localhost:1', clientId: 'c', clientSecret: 's' } };
    const problems = problemsOf({ upstreams, dangerously: { upstreamsOverHttp: true, more: true } });
    expect(problems).toEqual([expect.stringMatching(/^dangerously\.more: there is no such setting/)]);
  });

  it.each([
    [{ publicURL: 'https://x.example' }, 'publicURL: there is no such setting; did you mean publicUrl?'],
    [{ token: {} }, 'token: there is no such setting; did you mean tokens?'],
    [
      { tokens: { accesTokenSecond: 1 } },
      'tokens.accesTokenSecond: there is no such setting; did you mean accessTokenSeconds?',
    ],
    [
      { limits: { registrations: { time: 1 } } },
      'limits.registrations.time: there is no such setting; did you mean times?',
    ],
    [{ zebra: 1 }, 'zebra: there is no such setting'],
  ])('that do not exist are refused with the nearest name: %j', (input, problem) => {
    expect(problemsOf(input)).toEqual([problem]);
  });

  it.each([null, 'settings', 7, []])('that are %j are refused', (input) => {
    expect(problemsOf(input)).toHaveLength(1);
  });
});
