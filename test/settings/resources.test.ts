import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/options.ts';
import { SettingsRefused } from '../../src/settings/issues.ts';
import { completeResources, findOwnResources } from '../../src/settings/resources.ts';

const files = {
  resource: 'https://files.example.com/mcp',
  name: 'Files',
  scopes: { 'files:read': 'Read your files.' },
};

function problemsOf(entries: unknown): readonly string[] {
  try {
    parseSettings({ resources: entries });
  } catch (error) {
    if (error instanceof SettingsRefused) return error.problems;
  }
  return [];
}

describe('the settings of resources elsewhere', () => {
  it('need a URL, a name and scopes; their tokens are JWTs of five minutes by default', () => {
    expect(completeResources(parseSettings({ resources: [files] }).resources, false)).toEqual([
      {
        ...files,
        baselineScopes: ['files:read'],
        accessTokenFormat: 'jwt',
        accessTokenSeconds: 300,
        dpopRequired: false,
        introspectedBy: [],
      },
    ]);
    expect(parseSettings({}).resources).toEqual([]);
  });

  it.each<[string, unknown, RegExp]>([
    ['a path', [{ ...files, resource: '/mcp' }], /^resources\.0\.resource: must be an absolute URL/],
    [
      'plain http',
      [{ ...files, resource: 'http://a.example/x' }],
      /^resources\.0\.resource: must begin with https/,
    ],
    [
      'another spelling',
      [{ ...files, resource: 'https://A.example/x/' }],
      /must be written as https:\/\/a\.example\/x$/,
    ],
    ['a fragment', [{ ...files, resource: 'https://a.example/x#y' }], /must be an absolute URL/],
    ['no scopes', [{ ...files, scopes: {} }], /^resources\.0\.scopes: must have at least one scope/],
    [
      'a scope of the authorization server',
      [{ ...files, scopes: { ...files.scopes, openid: 'x' } }],
      /^resources\.0\.scopes\.openid: is a scope of the authorization server itself/,
    ],
    ['a scope with a space', [{ ...files, scopes: { 'a b': 'x' } }], /^resources\.0\.scopes/],
    [
      'a foreign baseline',
      [{ ...files, baselineScopes: ['x'] }],
      /^resources\.0\.baselineScopes: x is none of its/,
    ],
    ['the same twice', [files, files], /^resources\.1\.resource: stands here twice/],
    ['a misspelled name', [{ ...files, acessTokenFormat: 'jwt' }], /did you mean accessTokenFormat\?/],
    ['an unknown format', [{ ...files, accessTokenFormat: 'xml' }], /^resources\.0\.accessTokenFormat/],
  ])('are refused with %s, at its place', (_what, entries, problem) => {
    expect(problemsOf(entries)[0]).toMatch(problem);
  });

  it('may not name a resource that is served here', () => {
    const { resources } = parseSettings({ resources: [files] });
    expect(findOwnResources(resources, ['https://other.example/mcp'])).toEqual([]);
    expect(findOwnResources(resources, [files.resource])).toEqual([
      `resources.0.resource: ${files.resource} is served here; leave it out`,
    ]);
  });
});
