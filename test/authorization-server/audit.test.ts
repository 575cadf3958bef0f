import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';
import { createAuditLog } from '../../src/authorization-server/audit.ts';
import { createLogger } from '../../src/observability/logger.ts';

function startLog() {
  const lines: string[] = [];
  const counted: string[] = [];
  const kept: object[] = [];
  const tallied: string[] = [];
  const audit = createAuditLog(
    createLogger('info', (line) => lines.push(line)),
    (event) => counted.push(event),
    {
      note(event, details, say) {
        kept.push({ event, ...details });
        say?.();
      },
      tally(event, _details, say) {
        tallied.push(event);
        say?.();
      },
      close: async () => undefined,
    },
  );
  return {
    audit,
    kept,
    tallied,
    lines,
    counted,
    entry: () => JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>,
  };
}

const context = (entities?: object) =>
  ({
    state: { requestId: 'r1', clientAddress: '192.0.2.1' },
    ...(entities ? { oidc: { entities } } : {}),
  }) as unknown as Context;

describe('an audit line', () => {
  it('names event, request, address, client and account (T-197)', () => {
    const { audit, entry, counted, kept } = startLog();
    audit('token.issued', context({ Client: { clientId: 'c' }, Account: { accountId: 'a' } }), {
      grantType: 'x',
    });
    const { level: _level, time: _time, audit: event, ...said } = entry();
    expect(kept).toEqual([{ event, ...said }]);
    expect(counted).toEqual(['token.issued']);
    expect(entry()).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      audit: 'token.issued',
      requestId: 'r1',
      address: '192.0.2.1',
      clientId: 'c',
      accountId: 'a',
      grantType: 'x',
    });
  });

  it('of what needs no credentials is written each, and its rows are counted; anything else has a row each (T-197)', () => {
    const { audit, kept, tallied, counted, lines } = startLog();
    for (const event of ['token.refused', 'login.failed'] as const)
      audit(event, context(), { accountId: 'a' });
    audit('consent.denied', context());
    expect([tallied, kept]).toEqual([['token.refused', 'login.failed', 'consent.denied'], []]);
    audit('consent.denied', context(), { accountId: 'a' });
    audit('token.reuse_detected', context());
    expect(kept).toMatchObject([{ event: 'consent.denied' }, { event: 'token.reuse_detected' }]);
    expect([counted.length, lines.length]).toEqual([5, 5]);
  });

  it('names the account of a token where no account was loaded, and what its details say before all', () => {
    const { audit, entry } = startLog();
    audit('grant.revoked', context({ AccessToken: { accountId: 'a' } }));
    expect(entry().accountId).toBe('a');
    audit('grant.revoked', context({ RefreshToken: { accountId: 'a' } }), { accountId: 'b' });
    expect(entry().accountId).toBe('b');
    audit('login.failed', context());
    expect(entry()).not.toHaveProperty('accountId');
  });

  it('stays one line, and short, whatever it is told (T-195)', () => {
    const { audit, lines, entry } = startLog();
    audit('login.failed', context(), { clientId: `a\r\nb\u001b[31m"\u2028${'x'.repeat(1_000_000)}` });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.indexOf('\n')).toBe((lines[0]?.length ?? 0) - 1);
    expect(lines[0]).not.toContain('\u001b');
    expect(String(entry().clientId)).toMatch(/^a\r\nb.*… \(1000011 characters\)$/s);
    expect(lines[0]?.length).toBeLessThan(1000);
  });
});
