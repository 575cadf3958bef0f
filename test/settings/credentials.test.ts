import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/options.ts';
import { credentialSettings, findMisplaced } from '../../src/settings/credentials.ts';

const program = { command: 'notes-server' };
const server = { url: 'https://mcp.example/mcp' };

/** What is wrong with the credentials of a route. */
function problemsOf(credentials: object, backend: object = program): string {
  try {
    parseSettings({ routes: { notion: { backend, credentials } } } as never);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the setting for credentials', () => {
  it('has each person enter their own, unless it says where else it comes from', () => {
    const given = { apiKey: { label: 'Notion key', help: 'Where to get it', as: { env: 'NOTION_TOKEN' } } };
    expect(credentialSettings.parse(given)).toEqual({ apiKey: { ...given.apiKey, from: 'person' } });
    for (const from of [{ env: 'KEY' }, { file: 'key' }, { upstream: 'github', scopes: ['repo'] }])
      expect(problemsOf({ apiKey: { as: { env: 'KEY' }, from } })).toBe('');
  });

  it.each([
    [
      'names that are not known',
      { apiKey: { as: { env: 'A' }, labl: 'x' } },
      'apiKey.labl: there is no such',
    ],
    ['a name that could not stand in a URL', { 'a/b': { as: { env: 'A' } } }, 'must be a name'],
    ['no place', { apiKey: {} }, 'apiKey.as'],
    ['two places', { apiKey: { as: { env: 'A', auth: 'B' } } }, 'apiKey.as'],
    ['two origins', { apiKey: { as: { env: 'A' }, from: { env: 'A', file: 'b' } } }, 'apiKey.from'],
    [
      'one place twice',
      { a: { as: { env: 'A' } }, b: { as: { env: 'A' } } },
      'another credential stands there',
    ],
    ['a variable that decides what runs', { a: { as: { env: 'LD_PRELOAD' } } }, 'decides which program runs'],
    ['another one', { a: { as: { env: 'NODE_OPTIONS' } } }, 'decides which program runs'],
  ])('refuses %s', (_what, credentials, sentence) => {
    expect(problemsOf(credentials)).toContain(sentence);
  });

  it.each([
    ['Host', 'is set by this server itself'],
    ['content-length', 'is set by this server itself'],
    ['Mcp-Session-Id', 'is set by this server itself'],
    ['transfer-encoding', 'is set by this server itself'],
    ['Proxy-Authorization', 'is set by this server itself'],
    ['proxy-connection', 'is set by this server itself'],
    ['proxy-key', 'is set by this server itself'],
    ['Cookie', 'is no place for it'],
    ['Mcp-Tenant', 'is no place for it'],
  ])('refuses a header that takes no credential, and says why and what to use: %s (T-159)', (header, why) => {
    expect(problemsOf({ apiKey: { as: { header } } }, server)).toContain(
      `routes.notion.credentials.apiKey.as.header: ${header} ${why}: name the header that the backend reads, such as authorization or x-api-key`,
    );
  });

  it.each(['a b', 'a:', ''])('refuses what is no name of a header: %j', (header) => {
    expect(problemsOf({ apiKey: { as: { header } } }, server)).toContain(
      'credentials.apiKey.as.header: must be the name of a header',
    );
  });

  it('refuses the same header twice, in whatever case, and a prefix with a line break', () => {
    const twice = { a: { as: { header: 'X-Key' } }, b: { as: { header: 'x-key' } } };
    expect(problemsOf(twice, server)).toContain('b.as: another credential stands there');
    expect(problemsOf({ a: { as: { header: 'x-key', prefix: 'a\r\nb' } } }, server)).toContain('a.as');
  });

  it('names those that the backend would never see', () => {
    const all = credentialSettings.parse({
      inHeader: { as: { header: 'x-key' } },
      inEnvironment: { as: { env: 'KEY' } },
      inAuth: { as: { auth: 'KEY' } },
    });
    expect(findMisplaced(all, undefined)).toEqual(['inHeader.as', 'inAuth.as']);
    expect(findMisplaced(all, 'http')).toEqual(['inEnvironment.as', 'inAuth.as']);
    for (const transport of ['rest', 'auto'])
      expect(findMisplaced(all, transport)).toEqual(['inEnvironment.as']);
    expect(problemsOf({ apiKey: { as: { header: 'x-key' } } })).toContain(
      'routes.notion.credentials.apiKey.as: must be env for a program',
    );
    expect(problemsOf({ apiKey: { as: { header: 'x-key' } } }, server)).toBe('');
  });
});
