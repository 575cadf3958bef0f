import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { toCurl } from '../../../src/client/exchanges/curl.ts';
import { recordExchanges } from '../../../src/client/exchanges/record.ts';
import { startServer } from '../support/scripted-server.ts';

const shell = (command: string, env: Record<string, string> = {}) =>
  promisify(execFile)('sh', ['-c', command], {
    env: { PATH: process.env.PATH ?? '', ...env },
    timeout: 10_000,
  });

describe('an exchange as a curl command', () => {
  it('is the same request again, its secrets from variables that no list of processes shows (T-191)', async () => {
    const server = await startServer({ 'POST /token': { text: 'ok' } });
    const record = recordExchanges(fetch);
    const body = 'code=the-secret-code&note=a"b\\c$HOME`id`\nend&x=it\'s';
    await record.fetch(`${server.origin}/token?x=1`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer the-secret-token',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body,
    });
    const [exchange] = record.exchanges;
    if (!exchange) throw new Error('nothing was recorded');
    const command = toCurl(exchange);
    expect(command).toMatch(/^# Set first: ACCESS_TOKEN CODE\ncurl [^\n]*--config - <<END\n/);
    expect(command).not.toContain('the-secret');
    await shell(command, { ACCESS_TOKEN: 'the-secret-token', CODE: 'the-secret-code' });
    const [first, again] = server.requests;
    expect(again).toMatchObject({ method: 'POST', path: '/token', body: first?.body });
    expect(again?.headers.authorization).toBe('Bearer the-secret-token');
    expect(again?.query.get('x')).toBe('1');
  });

  it('is one plain command where nothing is secret', async () => {
    const server = await startServer({ 'GET /a': { text: 'ok' } });
    const record = recordExchanges(fetch);
    await record.fetch(`${server.origin}/a?it's=$(id)`, { headers: { accept: 'text/plain' } });
    const [exchange] = record.exchanges;
    if (!exchange) throw new Error('nothing was recorded');
    const command = toCurl(exchange);
    expect(command).toBe(
      `curl --silent --show-error --include \\\n  --url '${server.origin}/a?it%27s=$(id)' \\\n  --header 'accept: text/plain'`,
    );
    const { stdout } = await shell(command);
    expect(stdout).toContain('ok');
    expect(server.asked()).toEqual(['GET /a', 'GET /a']);
  });
});
