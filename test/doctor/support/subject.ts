import { openExamination } from '../../../src/doctor/examination.ts';
import type { LoginMeans, Subject } from '../../../src/doctor/subject.ts';
import { headlessLogin } from './login.ts';
import { type Fault, startServer, type TestServer } from './server.ts';

/**
 * A subject on a sound server with one fault, for tests of single probes.
 * @param fault what is broken; nothing unless told
 * @param options other means of the login; `passive` forbids logins
 */
export async function subjectOf(
  fault: Fault = () => undefined,
  options: { login?: LoginMeans; passive?: true } = {},
): Promise<{ subject: Subject; server: TestServer; finish(): Promise<void> }> {
  const server = await startServer({ fault });
  const { login = headlessLogin(), passive } = options;
  const examination = openExamination({
    url: server.url,
    fetch: globalThis.fetch,
    now: () => Math.floor(Date.now() / 1000),
    active: passive !== true,
    login,
    timeoutMs: 2000,
  });
  return { subject: examination.look().subject, server, finish: () => examination.finish() };
}
