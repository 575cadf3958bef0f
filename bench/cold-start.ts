import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { obtainAccessToken } from './gatehouse-token.ts';
import { median } from './median.ts';
import { person } from './person.ts';
import type { Row } from './report.ts';
import { headersFor, initializeBody } from './requests.ts';
import { type ServerProcess, startServer, waitUntil } from './server-process.ts';
import { peerProgram, peerToken } from './subjects.ts';

const project = fileURLToPath(new URL('../', import.meta.url));

/** Starts a server again and again; gives the milliseconds from each start to the first 200 to an `initialize`. */
async function timeStarts(
  times: number,
  start: () => Promise<ServerProcess>,
  token: string,
): Promise<number[]> {
  const headers = headersFor('stateless', token);
  const taken: number[] = [];
  for (let time = 0; time < times; time++) {
    const server = await start();
    const url = `http://localhost:${server.port}/mcp`;
    try {
      const milliseconds = await waitUntil(server, async () => {
        const response = await fetch(url, { method: 'POST', headers, body: initializeBody });
        await response.text();
        return response.status === 200;
      });
      taken.push(milliseconds);
    } finally {
      await server.stop();
    }
  }
  return taken;
}

/** The command as it is installed, built from the sources, on a data folder that has an account and a token. */
async function timeGatehouse(times: number, folder: string): Promise<number[]> {
  await promisify(execFile)('npm', ['run', 'build'], { cwd: project });
  const data = await mkdtemp(join(folder, 'data-'));
  const port = await freePort();
  const command = [join(project, 'bin/gatehouse.js'), 'serve', '--data', data, '--port', String(port)];
  const env = { GATEHOUSE_ACCOUNT_EMAIL: person.email, GATEHOUSE_ACCOUNT_PASSWORD: person.password };
  const start = (): Promise<ServerProcess> => startServer(folder, command, env, port);

  const first = await start();
  const url = `http://localhost:${port}`;
  await waitUntil(first, async () => (await fetch(`${url}/healthz`)).status === 200);
  const token = await obtainAccessToken(url, ['notes:read', 'notes:write']);
  await first.stop();
  return timeStarts(times, start, token);
}

/** Measures how long a start takes, from the process to the first call that is answered. */
export async function measureColdStart(rounds: number, folder: string): Promise<Row[]> {
  const { token, keys } = await peerToken();
  const startPeer = (): Promise<ServerProcess> =>
    startServer(folder, [peerProgram('sdk1'), 'session'], { PEER_KEYS: keys });
  const row = (subject: string, taken: readonly number[]): Row => ({
    work: 'cold start',
    subject,
    value: median(taken),
    unit: 'ms',
    details: { starts: taken.length, slowest: Math.max(...taken) },
  });
  return [
    row('gatehouse', await timeGatehouse(rounds, folder)),
    row('sdk1 session', await timeStarts(rounds, startPeer, token)),
  ];
}
