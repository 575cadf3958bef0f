import type { Page } from 'playwright-core';
import { addDevice } from './device.ts';
import { logIn, type Scene } from './login.ts';
import type { KnownPage } from './pages.ts';

const person = { email: `passkey${process.pid}@example.com`, password: 'a password beside a passkey' };

/** Somebody new keeps a passkey on a device of this browser. */
async function keepPasskey(scene: Scene, page: Page): Promise<void> {
  await scene.served.addAccount(person);
  await addDevice(page);
  await page.goto(`${scene.served.url}/account/passkeys`);
  await logIn(page, person);
  await page.locator('button.primary').click();
  await page.locator('a[href*="/passkeys/remove?"]').waitFor();
}

/** Where nobody has a passkey any more, no login page offers one. */
async function removePerson(scene: Scene): Promise<void> {
  await scene.served.removeAccount(person.email);
}

/** The pages as they are once somebody has a passkey. */
export const passkeyPages: readonly KnownPage[] = [
  {
    name: 'login-passkey',
    async open(scene, page) {
      await keepPasskey(scene, page);
      await page.context().clearCookies();
      await page.goto((await scene.begin()).url);
      await page.locator('form[data-passkey=get] button').waitFor();
    },
    clear: removePerson,
  },
  { name: 'account-passkeys-kept', open: keepPasskey, clear: removePerson },
  {
    name: 'account-passkey-renaming',
    async open(scene, page) {
      await keepPasskey(scene, page);
      await page.locator('a[href*="/passkeys/rename?"]').click();
      await page.locator('form[action$="/passkeys/rename"]').waitFor();
    },
    clear: removePerson,
  },
  {
    name: 'account-passkey-removal',
    async open(scene, page) {
      await keepPasskey(scene, page);
      await page.locator('a[href*="/passkeys/remove?"]').click();
      await page.locator('form[action$="/passkeys/remove"]').waitFor();
    },
    clear: removePerson,
  },
];
