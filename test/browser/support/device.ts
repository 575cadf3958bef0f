import type { Page } from 'playwright-core';

/** Gives the browser of a page a device that keeps passkeys, and says yes for its person. */
export async function addDevice(page: Page, { verifies = true } = {}) {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: verifies,
      automaticPresenceSimulation: true,
    },
  });
  return { session, authenticatorId };
}
