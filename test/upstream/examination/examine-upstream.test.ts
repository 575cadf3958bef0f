import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseSettings, type SettingsInput } from '../../../src/options.ts';
import { examineConfigured } from '../../../src/upstream/examination/configured.ts';
import { faults } from '../../support/upstreams/front.ts';
import { type GithubLikeUpstream, startGithubLikeUpstream } from '../../support/upstreams/github-like.ts';
import { type OpenIdUpstream, startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { upstreamClient } from '../../support/upstreams/people.ts';

const publicUrl = 'http://localhost:3000';

async function startWork(): Promise<OpenIdUpstream> {
  const work = await startOpenIdUpstream();
  onTestFinished(() => work.stop());
  work.allow(`${publicUrl}/upstream/work/callback`);
  return work;
}

async function startHub(): Promise<GithubLikeUpstream> {
  const hub = await startGithubLikeUpstream();
  onTestFinished(() => hub.stop());
  hub.allow(`${publicUrl}/upstream/work/callback`);
  return hub;
}

/** Examines an upstream with these settings, which is called `work`. */
async function examine(settings: object, { now = () => Math.floor(Date.now() / 1000) } = {}) {
  const input = {
    publicUrl,
    dangerously: { upstreamsOverHttp: true },
    upstreams: { work: settings },
  } as unknown as SettingsInput;
  const { upstreams } = parseSettings(input);
  const configured = { upstreams, publicUrl, dangerouslyFromLoopback: true };
  const report = await examineConfigured(configured, 'work', { fetch, now, env: {} });
  if (!report) throw new Error('there is no such upstream');
  const verdictOf = (id: string) => report.findings.find((finding) => finding.id === id)?.verdict;
  return { report, verdictOf, text: JSON.stringify(report) };
}

describe('an examination of an upstream', () => {
  it('of a sound OpenID provider finds nothing to mend, and leaves nothing behind there', async () => {
    const work = await startWork();
    const { report, verdictOf, text } = await examine(work.settings());
    expect(report.findings.filter(({ verdict }) => verdict === 'fail')).toEqual([]);
    expect(report).toMatchObject({
      outcome: 'sound',
      callbackUrl: `${publicUrl}/upstream/work/callback`,
      logoutUrl: `${publicUrl}/upstream/work/backchannel-logout`,
    });
    for (const id of ['UP-METADATA', 'UP-KEYS', 'UP-CLIENT', 'UP-CLIENT-AUTH', 'UP-CLOCK'])
      expect(verdictOf(id), id).toBe('pass');
    expect(work.granted.authorization_code).toBe(0);
    expect(text).not.toContain(upstreamClient.clientSecret);
  });

  it('of one like GitHub does without metadata and keys, and knows its refusals', async () => {
    const hub = await startHub();
    const { report, verdictOf } = await examine(hub.settings());
    expect(report.outcome).toBe('sound');
    expect(verdictOf('UP-KEYS')).toBeUndefined();
    expect(verdictOf('UP-CLIENT')).toBe('pass');
    const wrong = await examine(hub.settings({ clientSecret: 'another secret' }));
    expect(wrong.verdictOf('UP-CLIENT')).toBe('fail');
  });

  it('names a secret that is wrong, and what to do; the secret is not shown', async () => {
    const work = await startWork();
    const { report, text } = await examine(work.settings({ clientSecret: 'canary-of-a-wrong-secret' }));
    expect(report.outcome).toBe('faults');
    expect(report.findings.find(({ id }) => id === 'UP-CLIENT')).toMatchObject({
      verdict: 'fail',
      saw: expect.stringContaining('[client_refused]'),
      fix: expect.stringContaining('clientSecretFile'),
    });
    expect(text).not.toContain('canary');
  });

  it('names a file of a secret that is not there or empty, and asks nobody', async () => {
    const work = await startWork();
    const { clientSecret: _secret, ...settings } = work.settings();
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upstream-'));
    writeFileSync(join(folder, 'empty'), '\n');
    for (const file of ['missing', 'empty']) {
      const { report } = await examine({ ...settings, clientSecretFile: join(folder, file) });
      expect(report).toMatchObject({
        outcome: 'faults',
        findings: [{ id: 'UP-SECRET', verdict: 'fail', saw: expect.stringContaining(file) }],
      });
    }
    expect(work.requests).toEqual([]);
  });

  it('warns of a file of a secret that others can read, whether it can be asked or not (T-163)', async () => {
    const work = await startWork();
    const { clientSecret, ...settings } = work.settings();
    const file = join(mkdtempSync(join(tmpdir(), 'gatehouse-upstream-')), 'secret');
    writeFileSync(file, clientSecret);
    chmodSync(file, 0o644);
    const open = await examine({ ...settings, clientSecretFile: file });
    expect(open.report.outcome).toBe('sound');
    expect(open.report.findings[0]).toMatchObject({ id: 'UP-SECRET', verdict: 'warn' });
    await work.down();
    const away = await examine({ ...settings, clientSecretFile: file });
    expect(away.report.outcome).toBe('not_examined');
    expect(away.verdictOf('UP-SECRET')).toBe('warn');
    chmodSync(file, 0o600);
    expect((await examine({ ...settings, clientSecretFile: file })).verdictOf('UP-SECRET')).toBe('pass');
  });

  it('names a callback URL that is not registered there', async () => {
    const work = await startOpenIdUpstream();
    onTestFinished(() => work.stop());
    const { report } = await examine(work.settings());
    expect(report.findings.find(({ id }) => id === 'UP-REDIRECT')).toMatchObject({
      verdict: 'fail',
      fix: expect.stringContaining(`${publicUrl}/upstream/work/callback`),
    });
  });

  it('says where nobody can come in who is not linked yet, as the settings are by default', async () => {
    const work = await startWork();
    const { report, verdictOf } = await examine(work.settings());
    expect(verdictOf('UP-ACCOUNTS')).toBe('warn');
    expect(report.outcome).toBe('sound');
    expect(report.findings.find(({ id }) => id === 'UP-ACCOUNTS')?.fix).toContain(
      '"accounts": { "create": true }',
    );
    for (const opened of [
      { accounts: { create: true } },
      { accounts: { linkByVerifiedEmail: ['work.example'] } },
      { login: false },
    ])
      expect((await examine(work.settings(opened))).verdictOf('UP-ACCOUNTS')).toBe('pass');
  });

  it('names a scope that it does not know', async () => {
    const work = await startWork();
    const { verdictOf } = await examine(work.settings({ scopes: ['openid', 'flying'] }));
    expect(verdictOf('UP-SCOPES')).toBe('warn');
  });

  it('names clocks that differ', async () => {
    const work = await startWork();
    const late = await examine(work.settings(), { now: () => Math.floor(Date.now() / 1000) - 120 });
    expect(late.report.findings.find(({ id }) => id === 'UP-CLOCK')).toMatchObject({
      verdict: 'warn',
      saw: expect.stringMatching(/1[12]\d seconds ahead/),
    });
  });

  it('of one that is down says that it was not examined', async () => {
    const work = await startWork();
    await work.down();
    const { report } = await examine(work.settings());
    expect(report).toMatchObject({
      outcome: 'not_examined',
      findings: [{ id: 'UP-METADATA', verdict: 'fail', saw: expect.stringContaining('[unreachable]') }],
    });
  });

  const discovery = '/.well-known/openid-configuration';
  it.each([
    ['metadata of another issuer', 'metadata_issuer', { issuer: 'https://other.example' }],
    [
      'an endpoint on another host (T-088)',
      'metadata_endpoint_host',
      { token_endpoint: 'https://other.example/token' },
    ],
    [
      'an endpoint without https (T-088)',
      'metadata_endpoint_not_https',
      { token_endpoint: 'http://other.example/token' },
    ],
    ['metadata without a token endpoint', 'metadata_endpoint_missing', { token_endpoint: undefined }],
  ])('names %s by its reason, with a fix', async (_what, reason, change) => {
    const work = await startWork();
    work.alter(discovery, (metadata) => ({ ...metadata, ...change }));
    const { report } = await examine(work.settings());
    expect(report).toMatchObject({
      outcome: 'faults',
      findings: [
        { id: 'UP-METADATA', saw: expect.stringContaining(`[${reason}]`), fix: expect.stringMatching(/\w/) },
      ],
    });
  });

  it('shows no byte of what an upstream answers beside names of its metadata', async () => {
    const work = await startWork();
    work.fault('/token', faults.page(400));
    work.fault('/auth', faults.page(400));
    const { text } = await examine(work.settings());
    expect(text).not.toMatch(/canary|script/);
  });

  it('of one that nobody logs in with and no tool may use says so', async () => {
    const work = await startWork();
    const { verdictOf } = await examine(work.settings({ login: false }));
    expect(verdictOf('UP-API-HOSTS')).toBe('warn');
    const forTools = await examine(work.settings({ login: false, apiHosts: ['api.example.com'] }));
    expect(forTools.verdictOf('UP-API-HOSTS')).toBe('pass');
  });
});
