import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { arrive, openPage } from '../support/browser.ts';
import { logIn, setScene } from './support/login.ts';

const scene = setScene();
let attacker: Server | undefined;

afterEach(() => {
  attacker?.close();
  attacker = undefined;
});

/** Serves one page from another port, as another site or, on `localhost`, another origin of the same site. */
async function serveAttack(html: string, host: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!DOCTYPE html><title>A kitten</title>${html}`);
  });
  attacker = server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://${host}:${(server.address() as AddressInfo).port}/`;
}

describe.each([
  ['another site', '127.0.0.1'],
  ['another port of the same host', 'localhost'],
])('a page of %s', (_case, host) => {
  it('cannot post the consent form, even with its hidden fields (T-014)', async () => {
    const flow = await scene.begin();
    const { page, context } = await openPage(scene.browser);
    await page.goto(flow.url);
    await logIn(page);
    const form = page.locator('form').filter({ has: page.getByRole('button', { name: 'Allow' }) });
    const action = await form.getAttribute('action');
    const csrf = await form.locator('input[name=csrf]').getAttribute('value');
    expect(csrf?.length).toBeGreaterThan(20);

    const lure = await context.newPage();
    const fields = [
      ['csrf', csrf],
      ['decision', 'allow'],
      ['scope', 'notes:write'],
    ].map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`);
    const url = await serveAttack(
      `<form method="post" action="${action}">${fields.join('')}<button>See the kitten</button></form>`,
      host,
    );
    await lure.goto(url);
    const [answer] = await Promise.all([
      lure.waitForResponse((response) => response.request().method() === 'POST'),
      lure.getByRole('button').click(),
    ]);
    expect([400, 403]).toContain(answer.status());
    expect(scene.callback.arrived).toEqual([]);

    await page.getByRole('button', { name: 'Allow' }).click();
    await arrive(page);
    expect(scene.callback.arrived[0]?.searchParams.get('code')).toBeTruthy();
  });

  it('cannot show our pages in a frame (T-017)', async () => {
    const flow = await scene.begin();
    const { page, complaints } = await openPage(scene.browser);
    await page.goto(await serveAttack(`<iframe src="${flow.url.replaceAll('&', '&amp;')}"></iframe>`, host));
    const frame = page.frames().find((one) => one !== page.mainFrame());
    await expect.poll(() => complaints.join('\n')).toMatch(/fram/i);
    expect(await frame?.locator('input[name=password]').count()).toBe(0);
  });
});
