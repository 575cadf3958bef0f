import { describe, expect, it } from 'vitest';
import { registrationChecks } from '../../../src/doctor/all-checks.ts';
import type { Answered } from '../../../src/doctor/ask.ts';
import {
  metadataDocumentFaults,
  metadataUrlFaults,
  publishedRedirectUris,
} from '../../../src/doctor/registration/metadata-document-checks.ts';
import { refusal } from '../support/active-faults.ts';
import { examined } from '../support/examine.ts';
import type { Reply } from '../support/http.ts';
import { headlessLogin } from '../support/login.ts';
import { type Fault, startServer } from '../support/server.ts';

const url = 'https://client.example/oauth/client.json';

/** The document stands on the web, which no test reaches: its fetch answers for it, all else goes to the real server. */
function withDocument(document: object): typeof fetch {
  return async (target, init) =>
    String(target) === url ? Response.json(document) : globalThis.fetch(target, init);
}

const sound = { client_id: url, client_name: 'Acme', redirect_uris: ['http://127.0.0.1/back'] };

async function examineDocument(
  fault: Fault,
  options: { clientIdMetadataUrl?: string; document?: object } = {},
) {
  const server = await startServer({ fault });
  const { clientIdMetadataUrl = url, document = sound } = options;
  const report = await examined(server.url, registrationChecks, {
    active: true,
    only: ['REG-CIMD-DOCUMENT', 'REG-CIMD-ACCEPTED'],
    fetch: withDocument(document),
    login: headlessLogin({ clientIdMetadataUrl }),
  });
  return { ...report, server };
}

/** A server that knows the client by its document. */
const readsDocuments: Fault = (server) => {
  server.publish('GET /.well-known/oauth-authorization-server', {
    client_id_metadata_document_supported: true,
  });
  server.change('GET /authorize', (reply, { query }) =>
    query.get('client_id') === url ? { status: 302, headers: { location: '/login' } } : reply,
  );
};

describe('the metadata document of a client', () => {
  it('passes, and is taken with a port of its own in its own redirect URI (AS-15)', async () => {
    const { finding, server } = await examineDocument(readsDocuments);
    expect(finding('REG-CIMD-DOCUMENT').verdict).toBe('pass');
    expect(finding('REG-CIMD-ACCEPTED').verdict).toBe('pass');
    const sent = server.requests.find(({ path }) => path === '/authorize');
    expect(sent?.query.get('redirect_uri')).toBe('http://127.0.0.1:53682/back');
  });

  it('fails where it names another URL, and what depends on it is skipped', async () => {
    const { finding } = await examineDocument(readsDocuments, {
      document: { ...sound, client_id: 'https://x.example/' },
    });
    expect(finding('REG-CIMD-DOCUMENT')).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('client_id is not its URL'),
    });
    expect(finding('REG-CIMD-ACCEPTED')).toMatchObject({ verdict: 'skip', because: 'REG-CIMD-DOCUMENT' });
  });

  it('fails at a URL that no document may have', async () => {
    const { finding } = await examineDocument(readsDocuments, {
      clientIdMetadataUrl: 'http://client.example/',
    });
    expect(finding('REG-CIMD-DOCUMENT')).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('instead of https'),
    });
  });

  it('is found refused where the server announces that it reads them', async () => {
    const { finding } = await examineDocument((server) => {
      readsDocuments(server);
      server.change('GET /authorize', () => refusal('invalid_client', 400));
    });
    expect(finding('REG-CIMD-ACCEPTED')).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('refused with status 400'),
    });
  });

  it('is skipped where the server does not read any, or there is none', async () => {
    const { finding } = await examineDocument(() => undefined);
    expect(finding('REG-CIMD-ACCEPTED').verdict).toBe('skip');
    const server = await startServer();
    const none = await examined(server.url, registrationChecks, { only: ['REG-CIMD-DOCUMENT'] });
    expect(none.finding('REG-CIMD-DOCUMENT').verdict).toBe('skip');
  });
});

describe('a server that announces metadata documents', () => {
  /** Answers requests to the authorization endpoint by the client. */
  const announcing =
    (answer: (clientId: string) => Reply): Fault =>
    (server) => {
      server.publish('GET /.well-known/oauth-authorization-server', {
        client_id_metadata_document_supported: true,
      });
      server.change('GET /authorize', (_reply, { query }) => answer(query.get('client_id') ?? ''));
    };
  const examine = async (fault: Fault) => {
    const server = await startServer({ fault });
    const options = { active: true, only: ['REG-CIMD-FETCHED'] };
    return (await examined(server.url, registrationChecks, options)).finding('REG-CIMD-FETCHED');
  };
  const login: Reply = { status: 302, headers: { location: '/login' } };

  it('is found without egress: the documents of widely used clients get 503, and the fix names the setting (FA-52)', async () => {
    const finding = await examine(announcing(() => refusal('temporarily_unavailable', 503)));
    expect(finding).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining(
        'https://claude.ai/oauth/claude-code-client-metadata was answered with status 503',
      ),
      fix: expect.stringContaining('clients.metadataDocuments.enabled'),
    });
  });

  it.each<[string, Fault, string]>([
    ['takes one of them', announcing((id) => (id.includes('vscode') ? login : refusal('x', 503))), 'pass'],
    ['refuses all of them', announcing(() => refusal('invalid_client', 400)), 'warn'],
    ['shows a page of its own', announcing(() => ({ status: 200, text: '<title>?</title>' })), 'unknown'],
    ['announces none', () => undefined, 'skip'],
  ])('that %s is told so (FA-52)', async (_what, fault, verdict) => {
    expect((await examine(fault)).verdict).toBe(verdict);
  });
});

describe('the document', () => {
  const url = 'https://client.example/oauth/client.json';
  const sound = { client_id: url, client_name: 'Acme', redirect_uris: ['http://127.0.0.1/callback'] };

  function answer(document: unknown, over: Partial<Answered> = {}): Answered {
    return {
      kind: 'answered',
      method: 'GET',
      url,
      evidence: [],
      status: 200,
      headers: new Headers({ 'content-type': 'application/json' }),
      text: typeof document === 'string' ? document : JSON.stringify(document),
      truncated: false,
      ...over,
    };
  }

  describe('the URL of a client ID metadata document', () => {
    it.each([
      ['https://client.example/client.json', []],
      ['http://client.example/client.json', ['has the scheme "http:" instead of https']],
      ['https://client.example', ['has no path']],
      ['https://client.example/a/../b', ['has a dot segment']],
      ['https://client.example/a#b', ['has a fragment']],
      ['https://me@client.example/a', ['has a user name in it']],
      ['client.json', ['is not absolute']],
    ])('%s', (value, faults) => {
      expect(metadataUrlFaults(value)).toEqual(faults);
    });
  });

  describe('a client ID metadata document', () => {
    it('passes with its own URL, a name and redirect URIs', () => {
      expect(metadataDocumentFaults(url, answer(sound))).toEqual([]);
    });

    it.each<[string, Answered, RegExp]>([
      [
        'redirects',
        answer('', { status: 302, headers: new Headers({ location: '/x' }) }),
        /redirects to "\/x"/,
      ],
      ['is missing', answer('', { status: 404 }), /status 404/],
      ['is a page', answer('<p>'), /no JSON object but "<p>"/],
      [
        'has another type',
        answer(sound, { headers: new Headers({ 'content-type': 'text/plain' }) }),
        /"text\/plain", not JSON/,
      ],
      ['is too long', answer({ ...sound, client_name: 'a'.repeat(6000) }), /bytes, more than the 5120/],
      ['names another URL', answer({ ...sound, client_id: `${url}/` }), /differ at character 41/],
      ['has no name', answer({ ...sound, client_name: '' }), /no client_name/],
      ['has no redirect URIs', answer({ ...sound, redirect_uris: [] }), /no redirect_uris/],
      [
        'has a redirect URI of http',
        answer({ ...sound, redirect_uris: ['http://a.example'] }),
        /http_not_loopback/,
      ],
      [
        'wants a secret',
        answer({ ...sound, token_endpoint_auth_method: 'client_secret_basic' }),
        /needs a secret/,
      ],
      ['publishes a secret', answer({ ...sound, client_secret: 's' }), /publishes a client_secret/],
    ])('is refused where it %s', (_name, given, fault) => {
      const faults = metadataDocumentFaults(url, given);
      expect(faults).toHaveLength(1);
      expect(faults[0]).toMatch(fault);
    });

    it('gives its redirect URIs, and only texts', () => {
      expect(publishedRedirectUris(JSON.stringify({ redirect_uris: ['a:b', 1] }))).toEqual(['a:b']);
      expect(publishedRedirectUris('[]')).toEqual([]);
    });
  });
});
