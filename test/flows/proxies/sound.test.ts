import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Behind, startBehind } from './support/behind.ts';
import { configuration } from './support/configurations.ts';
import { isProxyInstalled, type ProxyProgram } from './support/proxy-program.ts';

const programs: [ProxyProgram, string][] = [
  ['nginx', 'nginx'],
  ['apache2', 'Apache httpd'],
  ['haproxy', ''],
  ['caddy', 'Caddy'],
];

describe.skipIf(!isProxyInstalled('nginx'))('Gatehouse behind a proxy', () => {
  let behind: Behind;
  beforeAll(async () => {
    behind = await startBehind();
  });
  afterAll(() => behind.stop());

  it.each(programs.filter(([program]) => isProxyInstalled(program)))(
    'works behind %s',
    async (program, name) => {
      const report = await behind.through(
        program,
        configuration(program, program === 'nginx' ? { within: 'client_max_body_size 10m;' } : {}),
      );
      expect(report.findings.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
      expect(report.finding('PROXY-PRODUCT').saw).toContain(name);
    },
  );
});
