import { expect, it, onTestFinished } from 'vitest';
import { createAuditTrail } from '../../src/authorization-server/index.ts';
import { composeBond } from '../../src/composition/upstreams.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import type { Upstream } from '../../src/upstream/upstream.ts';
import { startBond } from '../upstream/links/subject.ts';

async function start(upstreams: Upstream[]) {
  const subject = await startBond();
  const logger = createLogger('info', () => undefined);
  const now = () => subject.clock.now;
  const auditTrail = createAuditTrail({ store: subject.storage.audit, logger, now });
  const metrics = createMetrics('test');
  const bond = composeBond({
    upstreams: { all: upstreams, find: (name) => upstreams.find((each) => each.name === name) },
    storage: subject.storage,
    vault: subject.vault,
    auditTrail,
    metrics,
    logger,
    now,
  });
  onTestFinished(() => bond.close());
  const events = async () => (await subject.storage.audit.read({ limit: 100 })).map(({ event }) => event);
  return { ...subject, bond, metrics, events, auditTrail };
}

it('what hangs on an upstream that the settings have no more is not honoured, and not ended (A10-02)', async () => {
  const { bond, link, storage } = await start([]);
  await link('l');
  expect(await bond.options.linkStanding.check('l')).toBe('unavailable');
  expect(await bond.options.takeLogoutToken('work', 'jwt')).toEqual({ refused: 'unknown_upstream' });
  expect(await storage.artifacts.findGrant('grant of l')).toBeDefined();
});

it('logout tokens are taken once, and what they did stands in the audit log (T-091)', async () => {
  const scripted = (await startBond()).upstream;
  const { bond, link, metrics, events, auditTrail } = await start([
    {
      ...scripted,
      readLogoutToken: async () => ({
        issuer: 'https://work.example',
        sid: 'sid of l',
        jti: 'one',
        expiresAt: 2e9,
      }),
    } as unknown as Upstream,
  ]);
  await link('l');
  expect(await bond.options.takeLogoutToken('work', 'jwt')).toEqual({ ended: { grants: 1 } });
  expect(await bond.options.takeLogoutToken('work', 'jwt')).toEqual({ refused: 'logout_token_used' });
  await expect
    .poll(events)
    .toEqual(expect.arrayContaining(['upstream.logout', 'upstream.logout_refused', 'upstream.revoked']));
  expect((await metrics.render()).text).toContain('gatehouse_events_total{event="upstream.logout"} 1');
  for (let n = 0; n < 50; n++) await bond.options.takeLogoutToken('work', 'jwt');
  await auditTrail.close();
  expect((await events()).filter((event) => event === 'upstream.logout_refused')).toHaveLength(2);
});
