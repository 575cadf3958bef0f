import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ada, type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { authorization, register } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';

// Over src/authorization-server/texts/page-texts.ts and every page of an authorization request.

let gatehouse: RunningGatehouse;
let client: string;
beforeAll(async () => {
  gatehouse = await startGatehouse();
  client = (await register(gatehouse.url)).client_id;
});
afterAll(() => gatehouse.stop());

const languageOf = ({ html }: { html: string }): string | undefined => /<html lang="([^"]*)"/.exec(html)?.[1];

const email: [string, string] = ['email', ada.email];

/** Walks through every page of one login; gives the language of each. */
async function languagesOfALogin(uiLocales: string | undefined, browser: string): Promise<unknown[]> {
  const visitor = createVisitor(new Map(), browser);
  const flow = authorization(gatehouse, client, uiLocales ? { ui_locales: uiLocales } : {});
  const login = await visitor.open(flow.url);
  const failed = await visitor.submit(login, '/login', [email, ['password', 'wrong horse']]);
  const consent = await visitor.submit(failed, '/login', [email, ['password', ada.password]]);
  const other = await visitor.submit(consent, '/consent', [
    ['duration', 'century'],
    ['decision', 'allow'],
  ]);
  const switched = await visitor.submit(consent, '/switch', []);
  return [login, failed, consent, other, switched].map(languageOf);
}

describe('the pages of a login', () => {
  it.each([
    ['zh-CN', 'en', 'zh-CN'],
    ['en', 'zh-CN,zh;q=0.9', 'en'],
    ['fr zh', 'en', 'zh-CN'],
    [undefined, 'zh-CN,zh;q=0.9,en;q=0.8', 'zh-CN'],
    [undefined, 'de', 'en'],
    ['de', 'zh-Hans-SG', 'zh-CN'],
  ])(
    'with ui_locales %s in a browser of %s are all in %s, errors and the page after a failure too',
    async (uiLocales, browser, language) => {
      expect(await languagesOfALogin(uiLocales, browser)).toEqual(Array(5).fill(language));
    },
  );
});

describe('an error page', () => {
  it.each([
    ['of an unknown client', { client_id: 'nobody' }],
    ['of a wrong response type', { response_type: 'token' }],
    ['that the client would have been sent', { code_challenge_method: 'plain' }],
  ])('%s is in the language that the request asks for', async (_what, parameters) => {
    const { url } = authorization(gatehouse, client, { ...parameters, ui_locales: 'zh-CN' });
    const page = await createVisitor(new Map(), 'en').open(url);
    expect([page.response.status, languageOf(page)]).toEqual([400, 'zh-CN']);
    expect(page.html).toContain('<dt>错误代码</dt>');
  });

  it('of a login that is over is in the language of the browser, as nothing else is left to ask', async () => {
    const page = await createVisitor(new Map(), 'zh').open(`${gatehouse.url}/interaction/gone`);
    expect([page.response.status, languageOf(page)]).toEqual([400, 'zh-CN']);
  });
});

describe('the metadata of the server', () => {
  it('names the languages of the pages (RFC 8414 section 2)', async () => {
    const response = await fetch(`${gatehouse.url}/.well-known/oauth-authorization-server`);
    expect(await response.json()).toMatchObject({ ui_locales_supported: ['en', 'zh-CN'] });
  });
});

describe('the home page', () => {
  it.each([
    ['zh', 'zh-CN'],
    ['en', 'en'],
  ])('is in the language of the browser: %s', async (browser, language) => {
    const page = await createVisitor(new Map(), browser).open(`${gatehouse.url}/`);
    expect(languageOf(page)).toBe(language);
    expect(page.response.headers.get('vary')).toContain('Accept-Language');
  });
});
