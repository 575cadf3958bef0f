import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../../src/options.ts';
import { SettingsRefused } from '../../../src/settings/issues.ts';

/** The problems of a route with a backend. */
function problemsOf(backend: object, more: object = {}): readonly string[] {
  try {
    parseSettings({ routes: { a: { backend, ...more } } } as never);
    return [];
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error;
    return error.problems;
  }
}

const program = (env: object, more: object = {}) => ({ command: 'x', caller: { env }, ...more });
const server = (caller: object, more: object = {}) => ({ url: 'https://b.example/mcp', caller, ...more });

describe('the setting for what a backend learns about its caller', () => {
  it('takes fields in headers or variables, and an assertion', () => {
    expect(problemsOf(program({ WHO: 'email', APP: 'client_name' }))).toEqual([]);
    expect(
      problemsOf(server({ headers: { 'X-Who': 'email', 'x-time': 'auth_time' }, assertion: true })),
    ).toEqual([]);
    expect(problemsOf(server({ assertion: { header: 'X-Caller' } }))).toEqual([]);
  });

  it.each([
    ['a field that does not exist', server({ headers: { 'x-who': 'password' } }), 'caller.headers'],
    ['a field of one call as a variable', program({ WHEN: 'auth_time' }), 'caller.env'],
    ['a variable that decides what runs', program({ NODE_OPTIONS: 'name' }), 'decides which program runs'],
    [
      'a header of the request itself',
      server({ headers: { host: 'email' } }),
      'is set by this server itself',
    ],
    ['a header of MCP', server({ assertion: { header: 'mcp-x' } }), 'mcp-x'],
    ['variables of a server', server({ env: { WHO: 'email' } }), 'env'],
    ['headers of a program', { command: 'x', caller: { headers: { 'x-who': 'email' } } }, 'headers'],
  ])('rejects %s', (_what, backend, words) => {
    expect(problemsOf(backend).join()).toContain(words);
  });

  it('rejects a header or variable that another setting sets, in any case', () => {
    const taken = 'is set by another setting already';
    const who = { headers: { 'x-who': 'email' } };
    expect(problemsOf(server(who, { headers: { 'X-Who': 'fixed' } })).join()).toContain(taken);
    expect(problemsOf(server({ headers: { 'X-A': 'email', 'x-a': 'name' } })).join()).toContain(taken);
    expect(problemsOf(server({ headers: { 'X-Gatehouse-Omitted': 'email' } })).join()).toContain(taken);
    expect(problemsOf(server({ ...who, assertion: { header: 'X-Who' } })).join()).toContain(taken);
    expect(problemsOf(program({ WHO: 'email' }, { env: ['WHO'] })).join()).toContain(taken);
    expect(problemsOf(program({ WHO: 'email' }, { env: { WHO: 'fixed' } })).join()).toContain(taken);
    const credential = (as: object) => ({ credentials: { key: { as } } });
    expect(problemsOf(server(who), credential({ header: 'X-WHO' })).join()).toContain(taken);
    expect(problemsOf(program({ WHO: 'email' }), credential({ env: 'WHO' })).join()).toContain(taken);
  });
});
