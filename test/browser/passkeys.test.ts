// Passkeys in a real browser with a virtual authenticator:
// src/authorization-server/account/passkeys-page.ts
// src/authorization-server/authentication/passkeys.ts
// src/authorization-server/views/account/passkeys.ts
// src/authorization-server/views/passkey-form.ts
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { arrive, openPage } from '../support/browser.ts';
import { redeem } from '../support/oauth.ts';
import { grace } from '../support/served.ts';
import { ownPage } from './support/account-pages.ts';
import { addDevice } from './support/device.ts';
import { logIn, setScene } from './support/login.ts';

const scene = setScene();

/** A browser with JavaScript and a device that verifies its person. */
async function openWithDevice({ verifies = true } = {}) {
  const opened = await openPage(scene.browser, { javaScriptEnabled: true });
  return { ...opened, ...(await addDevice(opened.page, { verifies })) };
}

async function register(page: Page, name = 'My laptop'): Promise<void> {
  await page.goto(`${scene.served.url}/account/passkeys`);
  if (page.url().includes('/login')) await logIn(page);
  await page.getByLabel('Name of the new passkey').fill(name);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('heading', { name }).waitFor();
}

describe('a passkey', () => {
  it('is registered, logs its person in without a password, and the MCP client gets its code; removed, it is no more', async () => {
    const { page, complaints } = await openWithDevice();
    await register(page);
    await page.goto(ownPage(page));
    await page.getByRole('button', { name: 'Log out', exact: true }).click();

    const flow = await scene.begin();
    await page.goto(flow.url);
    await page.getByRole('button', { name: 'Log in with a passkey' }).click();
    await arrive(page);
    await page.getByText('ada@example.com').waitFor();
    await page.getByRole('button', { name: 'Allow' }).click();
    await arrive(page);
    await page.waitForURL(/127\.0\.0\.1|localhost/);
    await expect.poll(() => scene.callback.arrived.length).toBe(1);
    const code = scene.callback.arrived[0]?.searchParams.get('code') ?? '';
    expect((await redeem(scene.served.url, flow, code)).status).toBe(200);
    expect(complaints).toEqual([]);

    await page.goto(`${scene.served.url}/account/passkeys`);
    await logIn(page);
    expect(await page.getByText('stored on one device').count()).toBe(1);
    await page.getByRole('link', { name: 'Remove My laptop' }).click();
    await page.getByRole('heading', { name: 'Remove My laptop?' }).waitFor();
    await page.getByRole('button', { name: 'Remove My laptop' }).click();
    await page.getByText('You have no passkey.').waitFor();
  });

  it('logs in to the account page, once for each challenge, and only from its own page', async () => {
    const { page, context } = await openWithDevice();
    await register(page, 'For the account');
    await page.goto(ownPage(page));
    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    let posted = '';
    page.on('request', (request) => {
      if (request.url().endsWith('/account/passkey')) posted = request.postData() ?? '';
    });
    await page.getByRole('button', { name: 'Log in with a passkey' }).click();
    await arrive(page);
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    expect(posted).toContain('credential=');

    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    const replay = async () =>
      context.request.post(`${scene.served.url}/account/passkey`, {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        data: posted,
        maxRedirects: 0,
      });
    expect((await replay()).status()).toBe(401);
    expect((await replay()).status()).toBe(401);
    const forged = posted.replace(/credential=[^&]*/, 'credential=%7B%22id%22%3A%22x%22%7D');
    const answer = await context.request.post(`${scene.served.url}/account/passkey`, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      data: forged,
    });
    expect(answer.status()).toBe(401);
  });

  it('whose counter went back is a copy, and is refused', async () => {
    const { page, session, authenticatorId } = await openWithDevice();
    await register(page, 'Counted');
    const logInByPasskey = async () => {
      await page.goto(ownPage(page));
      await page.getByRole('button', { name: 'Log out', exact: true }).click();
      await page.getByRole('button', { name: 'Log in with a passkey' }).click();
      await arrive(page);
    };
    await logInByPasskey();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId });
    const [credential] = credentials;
    if (!credential) throw new Error('the device has no passkey');
    await session.send('WebAuthn.removeCredential', {
      authenticatorId,
      credentialId: credential.credentialId,
    });
    await session.send('WebAuthn.addCredential', {
      authenticatorId,
      credential: { ...credential, signCount: 0 },
    });
    await logInByPasskey();
    await page.getByText('The passkey could not be used. Please try again.').first().waitFor();
    expect(new URL(page.url()).pathname).toBe('/account/passkey');
  });

  it('of a disabled account logs nobody in', async () => {
    await scene.served.addAccount(grace);
    const { page } = await openWithDevice();
    await page.goto(`${scene.served.url}/account/passkeys`);
    await logIn(page, grace);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('heading', { name: 'Chrome on Linux' }).waitFor();
    await scene.served.disableAccount(grace.email);
    await page.goto(`${scene.served.url}/account/login`);
    await page.getByRole('button', { name: 'Log in with a passkey' }).click();
    await arrive(page);
    await page.getByText('The passkey could not be used. Please try again.').first().waitFor();
  });

  it('is called after the browser it is made in, with a number where one is called so, until its person renames it', async () => {
    const person = { email: 'names@example.com', password: 'a password for names' };
    await scene.served.addAccount(person);
    for (const suggested of ['Chrome on Linux', 'Chrome on Linux 2']) {
      const { page } = await openWithDevice();
      await page.goto(`${scene.served.url}/account/passkeys`);
      await logIn(page, person);
      expect(await page.getByLabel('Name of the new passkey').inputValue()).toBe(suggested);
      await page.getByRole('button', { name: 'Add a passkey' }).click();
      await page.getByRole('heading', { name: suggested, exact: true }).waitFor();
    }
    const { page, complaints } = await openPage(scene.browser);
    await page.goto(`${scene.served.url}/account/passkeys`);
    await logIn(page, person);
    await page.getByRole('link', { name: 'Rename Chrome on Linux 2' }).click();
    await page.getByLabel('Name').fill('The blue key');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { name: 'The blue key' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Chrome on Linux', exact: true }).count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('is not needed: without script the login page has its password, and nothing else shows', async () => {
    const { page: other } = await openWithDevice();
    await register(other, 'Somewhere');
    const { page, complaints } = await openPage(scene.browser);
    await page.goto(`${scene.served.url}/account/login`);
    expect(await page.getByRole('button', { name: 'Log in with a passkey' }).isVisible()).toBe(false);
    await logIn(page);
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('needs one script, whose hash the policy names: no other runs on that page (T-017)', async () => {
    const { page } = await openWithDevice();
    await register(page, 'Policy');
    const response = await page.goto(ownPage(page, '/passkeys'));
    const policy = response?.headers()['content-security-policy'] ?? '';
    expect(policy).toMatch(/script-src 'sha256-[^']+';/);
    await page.evaluate(
      "document.body.append(Object.assign(document.createElement('script'), { textContent: 'injected = true' }))",
    );
    expect(await page.evaluate("'injected' in window")).toBe(false);
    const overview = await page.goto(ownPage(page));
    expect(overview?.headers()['content-security-policy']).toContain("script-src 'none'");
  });
});
