import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { withTrace } from '../../../../src/cli/commands/mcp-client/trace.ts';
import { closedOrigin } from '../../../client/support/closed-origin.ts';
import { startServer } from '../../../client/support/scripted-server.ts';
import { testIo } from '../../support/client-commands.ts';

describe('a trace', () => {
  it('is nothing unless it is asked for', () => {
    const { io } = testIo();
    expect(withTrace(io)).toBe(io);
  });

  it('shows each exchange on standard error, and no secret (T-191)', async () => {
    const { origin } = await startServer({
      'POST /mcp': { status: 401, headers: { 'www-authenticate': 'Bearer' }, json: { a: '\u001b[2J' } },
    });
    const { io, written } = testIo();
    const response = await withTrace(io, true).fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: { authorization: 'Bearer very-secret-token' },
      body: '{"b":1}',
    });
    await response.text();
    expect(written.stdout).toBe('');
    expect(written.stderr).toMatch(new RegExp(`^# 1\\. POST ${origin}/mcp -> 401 \\(\\d+ ms\\)$`, 'm'));
    expect(written.stderr).toContain('# < www-authenticate: Bearer');
    expect(written.stderr).toContain('ACCESS_TOKEN');
    expect(written.stderr).not.toContain('very-secret');
    expect(written.stderr).not.toContain('\u001b');
  });

  it('says why there was no answer', async () => {
    const origin = await closedOrigin();
    const { io, written } = testIo();
    await expect(withTrace(io, true).fetch(origin)).rejects.toThrow();
    expect(written.stderr).toMatch(/-> failed: .*ECONNREFUSED/);
  });

  it('is a shell script that repeats the requests', async () => {
    const server = await startServer({ 'POST /mcp': { json: { note: 'two\nlines' } } });
    const { io, written } = testIo();
    const headers = { authorization: 'Bearer very-secret-token', 'content-type': 'application/json' };
    const body = `{"text":"it's $HOME"}`;
    await (await withTrace(io, true).fetch(`${server.origin}/mcp`, { method: 'POST', headers, body })).text();
    const curl = await promisify(execFile)('sh', ['-c', 'command -v curl']).catch(() => undefined);
    if (!curl) return;
    await promisify(execFile)('sh', ['-c', written.stderr], {
      env: { ...process.env, ACCESS_TOKEN: 'again' },
    });
    expect(server.requests[1]).toMatchObject({
      method: 'POST',
      body,
      headers: { authorization: 'Bearer again', 'content-type': 'application/json' },
    });
  });
});
