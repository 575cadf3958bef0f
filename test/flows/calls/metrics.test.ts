// Flows through the counting of calls in src/composition/mcp-endpoint.ts, and the files of config/grafana that read it.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { connectSdkV2 } from '../clients/support/sdk-v2.ts';
import { type Elsewhere, serveStreamable } from '../gateway/support/elsewhere.ts';

let elsewhere: Elsewhere;
let gate: RunningGatehouse;
beforeAll(async () => {
  elsewhere = await serveStreamable();
  const backend = { url: elsewhere.url };
  gate = await startGatehouse({
    routes: { open: { backend }, closed: { backend, policy: { tools: { deny: ['echo'] } } } },
  });
});
afterAll(async () => {
  await gate.stop();
  await elsewhere.stop();
});

async function scrape(): Promise<string> {
  const server = createServer(gate.serveMetrics);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  await new Promise((resolve) => server.close(resolve));
  return text;
}

describe('The metrics', () => {
  it('count the calls of each route by tool, outcome and kind of the client, and no names that a client invents', async () => {
    for (const route of ['open', 'closed']) {
      const { client } = await connectSdkV2(`${gate.url}/${route}/mcp`, 'legacy', { scopes: ['mcp'] });
      await client.callTool({ name: 'echo', arguments: { text: 'one' } }).catch(() => undefined);
      await client.callTool({ name: 'invented', arguments: {} }).catch(() => undefined);
      await client.close();
    }
    await vi.waitFor(async () => {
      const text = await scrape();
      for (const [route, tool, outcome] of [
        ['/open', 'echo', 'ok'],
        ['/closed', 'other', 'refused'],
      ])
        expect(text).toContain(
          `gatehouse_calls_total{route="${route}",tool="${tool}",outcome="${outcome}",client_kind="registered"} 1`,
        );
      expect(text).toMatch(/gatehouse_call_duration_seconds_count\{route="\/open",outcome="ok"\} 1/);
      expect(text).not.toContain('invented');
    });
  });
});

const dashboard = readFileSync(new URL('../../../config/grafana/dashboard.json', import.meta.url), 'utf8');
const alerts = readFileSync(new URL('../../../config/grafana/alerts.yaml', import.meta.url), 'utf8');

describe('The files for Grafana', () => {
  it('read only metrics that a server has', async () => {
    const names = new Set(
      [...(await scrape()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', kind]) =>
        kind === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
      ),
    );
    const used = [...`${dashboard}${alerts}`.matchAll(/\b(?:gatehouse|nodejs|process)_[a-z0-9_]+/g)];
    const read = [...new Set(used.map(([name]) => name))];
    expect(read.length).toBeGreaterThan(10);
    expect(read.filter((name) => !names.has(name))).toEqual([]);
  });

  it('can be parsed, and each panel and rule asks something', () => {
    const { panels } = JSON.parse(dashboard) as { panels: { title: string; targets: { expr: string }[] }[] };
    for (const { title, targets } of panels)
      expect(
        targets.every(({ expr }) => expr.includes('_')),
        title,
      ).toBe(true);
    const { groups } = parse(alerts) as {
      groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, expr, annotations } of rules) {
      expect(expr, alert).toMatch(/[<>]/);
      expect(annotations.summary, alert).toMatch(/\.$/);
    }
  });
});
