import { describe, expect, it } from 'vitest';
import { askAuthorizationEndpoint } from '../../../src/client/node/preflight.ts';
import { testContext } from '../support/context.ts';
import { type Answer, startServer } from '../support/scripted-server.ts';

const redirectUri = 'http://127.0.0.1:4711/callback';

async function ask(answer: Answer) {
  const server = await startServer({ 'GET /authorize': answer });
  const request = { url: `${server.origin}/authorize?scope=bogus`, state: 's' };
  return askAuthorizationEndpoint({ ...testContext(), timeoutMs: 'raw' in answer ? 300 : 10_000 }, request, redirectUri);
}

const redirect = (location: string): Answer => ({ status: 302, headers: { location }, text: '' });

describe('an authorization request that is refused anyhow', () => {
  it('gives the error sent to the redirect URI, which is the answer', async () => {
    const query = await ask(redirect(`${redirectUri}?error=invalid_scope&state=s`));
    expect(Object.fromEntries(query ?? [])).toEqual({ error: 'invalid_scope', state: 's' });
  });

  it.each([
    [
      'JSON',
      { status: 400, json: { error: 'invalid_client', error_description: 'who?' } },
      'status 400: "invalid_client" ("who?")',
    ],
    [
      'a page',
      { status: 400, text: '<title> Unknown\u001b client – Login </title>' },
      '"Unknown client – Login"',
    ],
    ['nothing at all', { status: 404, text: '' }, 'with status 404.'],
    [
      'a redirect to a page of errors',
      redirect('/error?error=invalid_scope&error_description=no%20bogus'),
      'a redirect: "invalid_scope" ("no bogus")',
    ],
    [
      'a page that says no, and the same to a program',
      { status: 403, json: { error: 'access_denied', error_description: 'wait for approval' } },
      'status 403: "access_denied" ("wait for approval")',
    ],
    ['an endless page', { status: 400, text: 'x'.repeat(300_000) }, 'status 400.'],
  ])('ends at once where the server answers with %s', async (_, answer, message) => {
    const error = await ask(answer).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      reason: 'authorization_denied',
      message: expect.stringContaining(message),
    });
    expect((error as Error).message.length).toBeLessThan(600);
  });
});

it.each([
  ['a code', { status: 403, json: { error: 'access_denied' } }, 'access_denied'],
  [
    'a document that cannot be fetched (FA-52)',
    { status: 503, json: { error: 'temporarily_unavailable' } },
    'temporarily_unavailable',
  ],
  ['a code on a page of errors', redirect('/error?error=invalid_scope'), 'invalid_scope'],
  ['none', { status: 400, text: '<title>access_denied</title>' }, undefined],
])('a refusal with %s of OAuth is told as what the server calls it', async (_, answer, oauthError) => {
  await expect(ask(answer)).rejects.toMatchObject({ reason: 'authorization_denied', oauthError });
});

describe('a browser has to go on', () => {
  it.each([
    ['a login page', { text: '<form>' }],
    ['a redirect to one', redirect('/login?error=')],
    ['a redirect to one that says a login is needed', redirect('/login?error=login_required')],
    ['a redirect without a place', { status: 302, text: '' }],
    ['a code nobody allowed', redirect(`${redirectUri}?code=c&state=s`)],
    ['a question for another kind of login', { status: 401, headers: { 'www-authenticate': 'Negotiate' } }],
    ['a refusal of programs', { status: 403, text: 'robots' }],
    ['a server that is busy', { status: 503, text: 'later' }],
    ['a refusal of programs in JSON of its own', { status: 403, json: { ray: 'a1' } }],
    ['silence', { raw: () => undefined }],
  ])('where the server answers with %s', async (_, answer) => {
    expect(await ask(answer)).toBeUndefined();
  });

  it('where the endpoint is out of reach from here', async () => {
    const request = { url: 'http://127.0.0.1:9/authorize', state: 's' };
    expect(await askAuthorizationEndpoint(testContext(), request, redirectUri)).toBeUndefined();
  });
});
