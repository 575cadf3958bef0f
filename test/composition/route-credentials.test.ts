import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  composeRouteCredentials,
  type RouteCredentialsParts,
} from '../../src/composition/route-credentials.ts';
import { accountMark } from '../../src/crypto/secret.ts';
import type { AuthInfo } from '../../src/oauth/auth-info.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { credentialSettings } from '../../src/settings/credentials.ts';
import { testFolder } from '../client/support/folder.ts';

const issuer = 'https://gate.example';
const ada: AuthInfo = {
  issuer,
  subject: 'ada',
  clientId: 'client',
  scopes: [],
  audience: `${issuer}/notion/mcp`,
  expiresAt: 2_000_000_000,
};

const parts = (over: Partial<RouteCredentialsParts> = {}): RouteCredentialsParts => ({
  issuer,
  environment: { APP_KEY: 'of the operator' },
  entered: { read: async () => undefined, onChange: () => () => undefined },
  upstreams: ['github'],
  labelOf: () => 'GitHub',
  tokens: { token: async () => 'needs_link', holds: async () => false },
  logger: createLogger('silent', () => undefined),
  now: () => 1_800_000_000,
  ...over,
});

const compose = (credentials: object, over?: Partial<RouteCredentialsParts>) =>
  composeRouteCredentials(
    { route: 'notion', name: 'Notion', credentials: credentialSettings.parse(credentials) },
    parts(over),
  );

const urlIn = (found: object) => (found as { error: { data: { url: string } } }).error.data.url;

describe('the credentials of a route', () => {
  it('are none where none are set', () => {
    const { source, forms } = compose({});
    expect([source, forms.credentials]).toEqual([undefined, []]);
  });

  it('come from the operator, from the person, and from an upstream, each to its place', async () => {
    const file = join(testFolder(), 'key');
    writeFileSync(file, 'of the file\n');
    chmodSync(file, 0o600);
    const { source, forms } = compose(
      {
        app: { as: { header: 'x-app' }, from: { env: 'APP_KEY' } },
        file: { as: { header: 'x-file' }, from: { file } },
        own: { label: 'Notion key', help: 'There.', as: { header: 'Authorization', prefix: 'Bearer ' } },
        hub: { as: { auth: 'GITHUB_TOKEN' }, from: { upstream: 'github' } },
      },
      {
        entered: { read: async (...key) => `entered ${key.join(' ')}`, onChange: () => () => undefined },
        tokens: { token: async () => ({ accessToken: 'hub token', generation: 1 }), holds: async () => true },
      },
    );
    expect(await source?.find(ada)).toEqual({
      headers: {
        'x-app': 'of the operator',
        'x-file': 'of the file',
        authorization: 'Bearer entered ada notion own',
      },
      auth: { GITHUB_TOKEN: 'hub token' },
    });
    expect(forms).toMatchObject({ route: 'notion', label: 'Notion' });
    const [form, ...more] = forms.credentials;
    expect(more).toEqual([]);
    expect(form).toMatchObject({ name: 'own', label: 'Notion key', help: 'There.' });
    expect([form?.check('ntn_1'), form?.check('a\nb')]).toEqual([undefined, 'control_characters']);
  });

  it('that are missing lead to the page where this account gives them, and no other account (C7-04)', async () => {
    const mark = accountMark('ada');
    const entered = await compose({ own: { as: { env: 'KEY' } } }).source?.find(ada);
    expect(urlIn(entered as object)).toBe(`${issuer}/account/credentials/notion/${mark}`);
    const linked = await compose({ hub: { as: { env: 'KEY' }, from: { upstream: 'github' } } }).source?.find(
      ada,
    );
    expect(urlIn(linked as object)).toBe(`${issuer}/account/upstreams/github/link/${mark}`);
  });

  it('are refused where they cannot be had, all problems at once and no value in them (T-163, T-196)', () => {
    const file = join(testFolder(), 'key');
    writeFileSync(file, 'planted-secret');
    chmodSync(file, 0o644);
    const credentials = {
      a: { as: { env: 'A' }, from: { env: 'NOT_SET' } },
      b: { as: { env: 'B' }, from: { file } },
      c: { as: { env: 'C' }, from: { upstream: 'gitlab' } },
      d: { as: { header: 'x-d' }, from: { env: 'TWO_LINES' } },
    };
    const refused = () => compose(credentials, { environment: { TWO_LINES: 'planted-\nsecret' } });
    expect(refused).toThrow('routes.notion.credentials.a.from: the environment has no NOT_SET: set it');
    expect(refused).toThrow(`routes.notion.credentials.b.from: ${file} can be read by others (mode 644)`);
    expect(refused).toThrow('routes.notion.credentials.c.from.upstream: there is no upstream gitlab');
    expect(refused).toThrow('routes.notion.credentials.d.from: has characters that cannot stand in a header');
    expect(refused).not.toThrow('planted');
  });
});
