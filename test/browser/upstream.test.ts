// Through the pages of src/authorization-server/upstream-login/upstream-pages.ts and of a real upstream.
import { expect, it } from 'vitest';
import { arrive, openPage } from '../support/browser.ts';
import { redeem, tryAccess } from '../support/oauth.ts';
import { lin, omar } from '../support/upstreams/people.ts';
import { setScene } from './support/login.ts';
import { chooseWork, goToWork, logInAtWork, workOf } from './support/upstream-pages.ts';

const scene = setScene({ withUpstream: true });

it('somebody goes from the app over our approval and the login elsewhere back to the app, without scripts (A10-01, A11-01)', async () => {
  const { page, complaints } = await openPage(scene.browser);
  const flow = await scene.begin();
  await page.goto(flow.url);
  await chooseWork(page);
  expect(workOf(scene).count('/auth')).toBe(0);
  await goToWork(page);
  expect(page.url()).toContain(workOf(scene).url);
  await logInAtWork(page);
  // Over http cookies do not prove that who comes back is who allowed it: the person is asked here.
  await page.getByRole('button', { name: 'Allow' }).click();
  await arrive(page);
  const arrived = scene.callback.arrived.at(-1);
  expect(arrived?.searchParams.get('state')).toBe(flow.state);
  const tokens = await redeem(scene.served.url, flow, arrived?.searchParams.get('code') ?? '');
  expect(tokens.status).toBe(200);
  const { access_token } = (await tokens.json()) as { access_token: string };
  expect(await tryAccess(scene.served.mcpUrl, access_token)).toBe(200);

  // Known there, they click here alone, and all the rest are redirects: the form policy of our page lets each of them go.
  const again = await scene.begin('Another app');
  await page.context().clearCookies({ domain: 'localhost' });
  await page.goto(again.url);
  await chooseWork(page);
  await goToWork(page);
  await page.getByRole('button', { name: 'Allow' }).click();
  await arrive(page);
  expect(scene.callback.arrived.at(-1)?.searchParams.get('state')).toBe(again.state);
  expect(complaints.filter((one) => /security policy/i.test(one))).toEqual([]);
});

it('a refusal at the upstream comes back to the app as access_denied', async () => {
  const { page } = await openPage(scene.browser);
  const flow = await scene.begin();
  await page.goto(flow.url);
  await chooseWork(page);
  await goToWork(page);
  await logInAtWork(page, lin, 'deny');
  const { searchParams } = scene.callback.arrived.at(-1) as URL;
  expect(searchParams.get('error')).toBe('access_denied');
  expect(searchParams.get('state')).toBe(flow.state);
});

it('who may not come in is told so, and gives up or logs in here', async () => {
  const { page } = await openPage(scene.browser);
  const flow = await scene.begin();
  await page.goto(flow.url);
  await chooseWork(page);
  await goToWork(page);
  await logInAtWork(page, omar);
  expect(await page.locator('h1').textContent()).toBe('The login through Work did not work');
  await page.locator('form[action$=elsewhere] button').click();
  expect(await page.locator('input[name=password]').count()).toBe(1);
  await page.locator('form[action$=cancel] button').click();
  await arrive(page);
  expect(scene.callback.arrived.at(-1)?.searchParams.get('error')).toBe('access_denied');
});
