import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { askServer } from '../../../src/cli/control/ask-server.ts';
import { controlSocketPath } from '../../../src/cli/control/socket-path.ts';

const way = { method: 'GET', path: '/routes' };

/** A data folder at whose socket something answers, or nothing. */
async function folderWith(answer?: RequestListener): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-ask-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  if (!answer) return folder;
  const server = createServer(answer);
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(controlSocketPath(folder).path, resolve));
  return folder;
}

describe('asking a running server', () => {
  it('gives what it answered', async () => {
    const folder = await folderWith(({ method, url }, response) => {
      response.end(JSON.stringify({ method, url }));
    });
    expect(await askServer(folder, way)).toEqual({ method: 'GET', url: '/routes' });
  });

  it.each([
    ['fails', 500, '{"error":"failed","message":"no\\u001b[31m luck"}', 'could not do it: no'],
    ['answers with what is no JSON', 200, '<html>', 'did not answer: what it said is not JSON'],
  ])('that %s is an error that says so and where to look', async (_what, status, text, words) => {
    const folder = await folderWith((_request, response) => response.writeHead(status).end(text));
    const failure = await askServer(folder, way).catch((error: Error) => error);
    expect(failure).toMatchObject({ message: expect.stringContaining(words), hint: 'Look at its log.' });
    expect((failure as Error).message).not.toContain('\u001b');
  });

  it('that does not run is an error that names its data folder', async () => {
    const folder = await folderWith();
    await expect(askServer(folder, way)).rejects.toThrow(
      `No running server listens at the data folder ${folder}`,
    );
  });
});
