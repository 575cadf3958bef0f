import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { askServers, failureOfSome } from '../../../src/cli/control/ask-servers.ts';
import { newControlSocket } from '../../../src/cli/control/socket-path.ts';

const way = { method: 'GET', path: '/routes' };

/** A data folder at whose sockets something answers, or nothing. */
async function folderWith(...answers: RequestListener[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-ask-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const answer of answers) {
    const server = createServer(answer);
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(newControlSocket(folder).path, resolve));
  }
  return folder;
}

const pid = process.pid;
const failing: RequestListener = (_request, response) =>
  response.writeHead(500).end('{"error":"failed","message":"no\\u001b[31m luck"}');

describe('asking the running servers', () => {
  it('gives what each of them answered', async () => {
    const folder = await folderWith(
      ({ method, url }, response) => response.end(JSON.stringify({ method, url })),
      ({ method, url }, response) => response.end(JSON.stringify({ method, url })),
    );
    const body = { method: 'GET', url: '/routes' };
    const answers = await askServers(folder, way);
    expect(answers).toEqual({
      answered: [
        { pid, body },
        { pid, body },
      ],
      failed: [],
    });
    expect(failureOfSome(answers)).toBeUndefined();
  });

  it('of which some fail gives the answers of the others, and a failure that names those', async () => {
    const folder = await folderWith(failing, (_request, response) => response.end('{}'));
    const answers = await askServers(folder, way);
    expect(answers.answered).toEqual([{ pid, body: {} }]);
    expect(failureOfSome(answers)).toMatchObject({
      message: `1 of 2 servers of this data folder could not do it.\n- process ${pid}: The server could not do it: no luck.`,
      exitCode: 1,
    });
  });

  it.each<[string, RequestListener, string]>([
    ['fails', failing, 'could not do it: no'],
    [
      'answers with what is no JSON',
      (_request, response) => response.end('<html>'),
      'did not answer: what it said is not JSON',
    ],
  ])('that %s is an error that says so and where to look', async (_what, answer, words) => {
    const folder = await folderWith(answer);
    const failure = await askServers(folder, way).catch((error: Error) => error);
    expect(failure).toMatchObject({ message: expect.stringContaining(words), hint: 'Look at its log.' });
    expect((failure as Error).message).not.toContain('\u001b');
  });

  it('that do not run is an error that names their data folder', async () => {
    const folder = await folderWith();
    await expect(askServers(folder, way)).rejects.toThrow(
      `No server is running with the data folder ${folder}`,
    );
  });
});
