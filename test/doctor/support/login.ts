import type { AuthorizationAgent } from '../../../src/client/authorization/code-login.ts';
import { loginChecks, registrationChecks, tokenChecks } from '../../../src/doctor/all-checks.ts';
import type { LoginMeans } from '../../../src/doctor/subject.ts';
import { spendingChecks } from '../../../src/doctor/token/spending-checks.ts';
import { examined } from './examine.ts';
import { type Fault, startServer, type TestServer } from './server.ts';

/** The three active sections in the order in which they run. */
export const activeSections = [
  ...registrationChecks,
  ...loginChecks,
  ...tokenChecks,
  ...spendingChecks,
] as const;

/** Says yes to one authorization request, and gives where the browser is sent with the answer. */
export type Consenting = (url: string) => Promise<URL>;

/** A server that asks nobody redirects at once. */
const atOnce: Consenting = async (url) => {
  const response = await fetch(url, { redirect: 'manual' });
  const location = response.headers.get('location');
  if (location === null) throw new Error(`no redirect: ${response.status} ${await response.text()}`);
  return new URL(location);
};

/** Means of a login without a browser, with short waits; `asked` has each URL that a user would have seen. */
export function headlessLogin(
  options: Omit<LoginMeans, 'withAgent'> & { consent?: Consenting } = {},
): LoginMeans & { asked: string[] } {
  const { consent = atOnce, ...means } = options;
  const asked: string[] = [];
  const agent: AuthorizationAgent = {
    redirectUri: 'http://127.0.0.1:45454/callback',
    registeredRedirectUris: ['http://127.0.0.1/callback'],
    receive: async ({ url }) => {
      asked.push(url);
      return (await consent(url)).searchParams;
    },
  };
  return {
    reuseAfterSeconds: [0, 0.12],
    revokedAfterSeconds: [0, 0.05],
    ...means,
    asked,
    withAgent: (work) => work(agent),
  };
}

/**
 * Runs the active sections against a sound server with one fault.
 * @param fault what is broken; nothing unless told
 * @param options `only` these ids, and other means of the login
 */
export async function examineActively(
  fault: Fault = () => undefined,
  options: { only?: readonly string[]; login?: LoginMeans } = {},
): Promise<Awaited<ReturnType<typeof examined>> & { server: TestServer }> {
  const server = await startServer({
    fault: (sound) => {
      sound.rules.refreshGraceMs = 60;
      fault(sound);
    },
  });
  const { login = headlessLogin(), ...rest } = options;
  const report = await examined(server.url, activeSections, { active: true, login, ...rest });
  return { ...report, server };
}
