import { describe, expect, it } from 'vitest';
import { answerWithErrorPage } from '../../../src/authorization-server/endpoints/error-page.ts';
import { serveSteps } from '../../support/koa-step.ts';
import { shownCode } from '../../support/refusal.ts';

type Page = Parameters<typeof answerWithErrorPage>[3];

async function answer(
  error: { code: string; description?: string },
  page: Page = {},
  accept = 'text/html',
): Promise<{ response: Response; text: string }> {
  const url = await serveSteps([(ctx) => answerWithErrorPage(ctx, 400, error, page)]);
  const response = await fetch(url, { headers: { accept } });
  return { response, text: await response.text() };
}

describe('an error', () => {
  it.each([
    ['invalid_client', 'This app is not known here'],
    ['invalid_redirect_uri', 'This login cannot return to the app'],
    ['access_denied', 'Access was not granted'],
    ['server_error', 'Something went wrong here'],
    ['a_code_without_words', 'The app sent an invalid request'],
    ['__proto__', 'The app sent an invalid request'],
    ['toString', 'The app sent an invalid request'],
  ])('with the code %s says "%s" and what to do', async (code, title) => {
    const { response, text } = await answer({ code });
    expect(response.status).toBe(400);
    expect(text).toContain(`<h1>${title}</h1>`);
    expect(shownCode(text)).toBe(code);
  });

  it('is JSON for a client that asks for JSON, and a page for everybody else', async () => {
    const error = { code: 'invalid_scope', description: 'no such scope' };
    const { response, text } = await answer(error, {}, 'application/json');
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(JSON.parse(text)).toEqual({ error: 'invalid_scope', error_description: 'no such scope' });
    for (const accept of ['*/*', 'text/html,application/json', 'image/png'])
      expect((await answer(error, {}, accept)).response.headers.get('content-type')).toMatch(/^text\/html/);
  });

  it('is not stored, framed or sniffed, in either form (T-017)', async () => {
    for (const accept of ['text/html', 'application/json']) {
      const { response } = await answer({ code: 'invalid_request' }, {}, accept);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      });
    }
  });

  it('shows hostile descriptions as text (T-020)', async () => {
    const { text } = await answer({ code: '<b>', description: '<script>alert(1)</script>' });
    expect(text).not.toMatch(/<script|<b>/);
  });

  it('that leads back to a script is a page without a link (T-003)', async () => {
    const { text } = await answer({ code: 'invalid_scope' }, { backTo: 'javascript:alert(1)//?error=x' });
    expect(text).not.toContain('<a ');
  });
});
