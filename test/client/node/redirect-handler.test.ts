import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  answerRedirect,
  callbackPage,
  callbackPageHeaders,
  escapeHtml,
  redirectHandler,
} from '../../../src/client/node/redirect-handler.ts';
import { send } from '../support/browser-request.ts';

/** A server that waits for the redirect with the state `s`. */
async function start() {
  const taken: string[] = [];
  const server = createServer(
    { maxHeaderSize: 16 * 1024 },
    redirectHandler(
      () => port,
      () => ['s'],
      (query, response) => {
        taken.push(query.toString());
        answerRedirect(response, query, 'unknown');
      },
    ),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${port}/callback`, port, taken };
}

describe('the answer to a redirect', () => {
  it.each([
    ['no state', '?code=c', {}, 400],
    ['another state', '?code=c&state=other', {}, 400],
    ['two states', '?code=c&state=s&state=s', {}, 400],
    ['POST', '?code=c&state=s', { method: 'POST' }, 405],
    ['HEAD', '?code=c&state=s', { method: 'HEAD' }, 405],
    ['a foreign Host', '?code=c&state=s', { host: 'evil.example' }, 421],
    ['a Host without the port', '?code=c&state=s', { host: '127.0.0.1' }, 421],
    ['another path', '/more?code=c&state=s', {}, 404],
    ['a huge query', `?code=${'c'.repeat(20_000)}&state=s`, {}, 431],
  ])('refuses %s and takes nothing (A6-04, T-187)', async (_, tail, options, status) => {
    const { url, taken } = await start();
    const refused = await send(url + tail, options);
    expect(refused.status).toBe(status);
    expect(refused.body).not.toContain('close this tab');
    expect(taken).toEqual([]);
  });

  it('takes the right one on every name of loopback', async () => {
    const { url, port, taken } = await start();
    for (const host of ['127.0.0.1', 'localhost', '[::1]'])
      expect((await send(`${url}?code=c&state=s`, { host: `${host}:${port}` })).status).toBe(200);
    expect(taken).toEqual(Array(3).fill('code=c&state=s'));
  });

  it('repeats nothing of an error: it may be forged (A6-10, T-187)', async () => {
    const { url, taken } = await start();
    const { body } = await send(`${url}?error=boo&error_description=%3Cscript%3Epay&state=s`);
    expect(body).not.toMatch(/boo|script|pay/);
    expect(body).toContain('Not logged in');
    expect(taken).toHaveLength(1);
  });
});

describe('the page after the redirect', () => {
  const page = callbackPage('<b>"Hi"', "it's & <script>");

  it('escapes what it shows (T-187)', () => {
    expect(page).not.toMatch(/<b>|<script/);
    expect(escapeHtml(`<>&"'`)).toBe('&#60;&#62;&#38;&#34;&#39;');
  });

  it('runs no script and loads nothing, and its policy allows its own style only', () => {
    const style = /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(callbackPageHeaders['content-security-policy']).toContain(
      `default-src 'none'; style-src 'sha256-${hash}'`,
    );
    expect(page).not.toMatch(/src=|href=|url\(|@import/);
  });

  it('is made for light and dark', () => {
    expect(page).toContain('color-scheme:light dark');
    expect(page).toContain('prefers-color-scheme:dark');
  });
});
