import { describe, expect, it, onTestFinished } from 'vitest';
import { passiveChecks } from '../../src/doctor/all-checks.ts';
import { startGatehouse } from '../support/gatehouse.ts';
import { examined } from './support/examine.ts';
import { startServer } from './support/server.ts';

/** Verdicts of checks about things that are there. */
function verdicts({ findings }: Awaited<ReturnType<typeof examined>>): string[] {
  return [...new Set(findings.map(({ verdict }) => verdict))].sort();
}

describe('a server that does everything right', () => {
  it('has nothing but passes, and skips of what it does not have', async () => {
    const report = await examined((await startServer()).url, passiveChecks);
    expect(report.bad()).toEqual([]);
    expect(verdicts(report)).toEqual(['pass', 'skip']);
    expect(report.findings.filter(({ because }) => because !== undefined)).toEqual([]);
  });

  it('may have an issuer with a path', async () => {
    const report = await examined((await startServer({ issuerPath: '/tenant' })).url, passiveChecks);
    expect(report.bad()).toEqual([]);
    expect(report.finding('AS-FOUND').saw).toContain('/.well-known/oauth-authorization-server/tenant');
  });

  it('is asked for nothing that leaves a trace: no registration, no code, no token', async () => {
    const server = await startServer();
    await examined(server.url, passiveChecks);
    const writes = server.requests.filter(({ method, path }) => method === 'POST' && path !== '/mcp');
    expect(writes.map(({ path, body }) => `${path} ${body}`)).toEqual(['/token ']);
    expect(server.asked()).not.toContain('POST /register');
  });
});

describe('Gatehouse', () => {
  it.each(['', '/team'])('has no warning and no failure below %j', async (publicPath) => {
    const gatehouse = await startGatehouse({ publicPath });
    onTestFinished(() => gatehouse.stop());
    const report = await examined(gatehouse.mcpUrl, passiveChecks);
    expect(report.bad()).toEqual([]);
    expect(verdicts(report)).toEqual(['pass', 'skip']);
  });
});
