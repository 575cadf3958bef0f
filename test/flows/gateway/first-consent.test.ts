// Over src/mcp/scopes/scope-tools.ts and src/authorization-server/interactions/consent.ts, with a program that starts slowly.
import { expect, it, onTestFinished, vi } from 'vitest';
import { startGatehouse } from '../../support/gatehouse.ts';
import { authorization, openConsent, register } from '../../support/oauth.ts';
import { createVisitor } from '../../support/visitor.ts';

/** A program that reads nothing for two and a half seconds, as one that is downloaded first. */
const slow = `setTimeout(() => {
  const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (method === 'initialize')
      say(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'slow', version: '1' } });
    else if (method === 'tools/list') say(id, { tools: [{ name: 'late_tool', inputSchema: { type: 'object' } }] });
    else if (id !== undefined)
      process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }) + '\\n');
  });
}, 2500)`;

it('The first consent for a program that is still starting says so, and lists its tools when it is loaded again (FA-60)', async () => {
  const gatehouse = await startGatehouse({
    backend: { command: process.execPath, args: ['-e', slow] },
  });
  onTestFinished(() => gatehouse.stop());
  const visitor = createVisitor();
  const flow = authorization(gatehouse, (await register(gatehouse.url)).client_id, {
    scope: 'mcp',
  });
  const page = await openConsent(flow, visitor);
  expect(page.html).toContain('The server has not listed its tools yet');
  await vi.waitFor(
    async () => {
      const { html } = await visitor.open(page.url);
      expect(html).toContain('late_tool');
      expect(html).not.toContain('The server has not listed its tools yet');
    },
    { timeout: 20_000, interval: 200 },
  );
});
