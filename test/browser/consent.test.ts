import { describe, expect, it } from 'vitest';
import { arrive, openPage } from '../support/browser.ts';
import { ada } from '../support/gatehouse.ts';
import { redeem } from '../support/oauth.ts';
import { runProgram } from '../support/program.ts';
import { commandLine, runGatehouse } from '../support/served.ts';
import { logIn, setScene } from './support/login.ts';

const scene = setScene();

describe('a person with a real browser, JavaScript off', () => {
  it('logs in and allows what `gatehouse login` asks, and a tool answers as that person', async () => {
    const { mcpUrl } = scene.served;
    const env = { GATEHOUSE_HOME: scene.home };
    const client = runProgram(commandLine, ['login', mcpUrl, '--no-browser', '--json'], { env, input: '' });
    const [, url = ''] = await client.waitFor('stderr', /^Open this URL: (\S+)$/m);

    const { page, complaints } = await openPage(scene.browser);
    await page.goto(url);
    await logIn(page);
    await expect(page.getByRole('heading', { level: 1 }).textContent()).resolves.toMatch(
      /^Allow “.+” to use Gatehouse notes\?$/,
    );
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(2);
    await page.getByRole('button', { name: 'Allow' }).click();
    await arrive(page);
    expect(new URL(page.url()).hostname).toMatch(/^(127\.0\.0\.1|localhost)$/);
    expect(complaints).toEqual([]);

    expect(await client.ended, client.written.stderr).toBe(0);
    const called = await runGatehouse(['call', mcpUrl, 'whoami', '--json'], { env });
    expect(called.code, called.stderr).toBe(0);
    const { structuredContent } = JSON.parse(called.stdout) as { structuredContent: { scopes: string[] } };
    expect(structuredContent.scopes).toEqual(['notes:read', 'notes:write']);
  });

  it('has the decision in sight on a phone, and the destination once (FA-61)', async () => {
    const flow = await scene.begin();
    const { page } = await openPage(scene.browser);
    await page.setViewportSize({ width: 360, height: 640 });
    await page.goto(flow.url);
    await logIn(page);
    for (const name of ['Allow', 'Deny']) {
      const { y = 0, height = 0 } = (await page.getByRole('button', { name }).boundingBox()) ?? {};
      expect(height, name).toBeGreaterThan(0);
      expect(y + height, name).toBeLessThanOrEqual(640);
    }
    const { host } = new URL(flow.redirectUri);
    const text = (await page.locator('main').textContent()) ?? '';
    expect(text.split(host).length - 1).toBe(1);
  });

  it('grants no more than the boxes that stay ticked', async () => {
    const flow = await scene.begin();
    const { page } = await openPage(scene.browser);
    await page.goto(flow.url);
    await logIn(page);
    await page.getByRole('checkbox', { name: /Add notes/ }).uncheck();
    await page.getByRole('button', { name: 'Allow' }).click();
    await arrive(page);
    const [answer] = scene.callback.arrived;
    const tokens = await redeem(scene.served.url, flow, answer?.searchParams.get('code') ?? '');
    expect(((await tokens.json()) as { scope: string }).scope.split(' ')).not.toContain('notes:write');
  });

  it('denies, and the app is told access_denied', async () => {
    const flow = await scene.begin();
    const { page, complaints } = await openPage(scene.browser);
    await page.goto(flow.url);
    await logIn(page);
    await page.getByRole('button', { name: 'Deny' }).click();
    await arrive(page);
    expect(await page.title()).toBe('Back in the app');
    expect(scene.callback.arrived.map(({ searchParams }) => searchParams.get('error'))).toEqual([
      'access_denied',
    ]);
    expect(complaints).toEqual([]);
  });

  it('cancels instead of logging in, and the app is told access_denied', async () => {
    const flow = await scene.begin();
    const { page } = await openPage(scene.browser);
    await page.goto(flow.url);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await arrive(page);
    expect(scene.callback.arrived.map(({ searchParams }) => searchParams.get('error'))).toEqual([
      'access_denied',
    ]);
  });

  it('is told that the password is wrong, keeps the address typed, and gets in with Enter', async () => {
    const flow = await scene.begin();
    const { page } = await openPage(scene.browser);
    await page.goto(flow.url);
    await logIn(page, { ...ada, password: 'wrong horse' });
    expect(await page.getByRole('alert').textContent()).toMatch(/Incorrect e-mail or password/);
    expect(await page.getByLabel('E-mail').inputValue()).toBe(ada.email);
    expect(await page.getByLabel('Password').inputValue()).toBe('');
    await logIn(page, ada, 'Enter');
    expect(await page.title()).toMatch(/^Allow Notes on my laptop\?/);
  });

  it('does not allow anything with the Enter key on the consent page', async () => {
    const flow = await scene.begin();
    const { page } = await openPage(scene.browser);
    await page.goto(flow.url);
    await logIn(page);
    await page.getByRole('checkbox').first().press('Enter');
    await page.waitForURL(/callback/);
    expect(scene.callback.arrived.map(({ searchParams }) => searchParams.get('error'))).toEqual([
      'access_denied',
    ]);
  });
});
