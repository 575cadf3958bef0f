import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { passiveChecks } from '../../../src/doctor/all-checks.ts';
import { handshake, outdatedHandshake, tlsChecks } from '../../../src/doctor/reach/tls-checks.ts';
import { certificateForElsewhere, certificateForHere, testAuthority } from '../support/certificates.ts';
import { examined } from '../support/examine.ts';
import { startServer } from '../support/server.ts';
import { serveTls } from '../support/tls-server.ts';
import { judgedBy, subjectOf } from '../support/view.ts';

/** Before the certificates of the tests end, in July 2126. */
const endOfCertificates = Date.parse('2126-07-20T00:00:00Z') / 1000;

describe('a server whose TLS clients refuse', () => {
  it('is found by its certificate: the issuer is unknown', async () => {
    const port = await serveTls(certificateForHere);
    const report = await examined(`https://localhost:${port}/mcp`, passiveChecks);
    expect(report.bad()).toEqual(['fail REACH-TLS']);
    const { saw, fix } = report.finding('REACH-TLS');
    expect(saw).toContain('UNABLE_TO_VERIFY_LEAF_SIGNATURE. It is for DNS:localhost');
    expect(fix).toContain('full chain');
    expect(report.finding('REACH-ANSWER')).toMatchObject({ verdict: 'skip', because: 'REACH-TLS' });
    expect(report.finding('AS-PKCE')).toMatchObject({ verdict: 'skip', because: 'REACH-TLS' });
  });

  it('is found by its certificate: it is for another host', async () => {
    const port = await serveTls(certificateForElsewhere);
    const report = await examined(`https://localhost:${port}/mcp`, tlsChecks);
    expect(report.finding('REACH-TLS').saw).toContain('DNS:elsewhere.example');
  });

  it('is found by its version', async () => {
    const old = {
      ...certificateForHere,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    } as const;
    const report = await examined(`https://localhost:${await serveTls(old)}/mcp`, passiveChecks);
    expect(report.bad()).toEqual(['fail REACH-TLS-VERSION']);
    expect(report.finding('REACH-TLS-VERSION').saw).toContain('TLSv1.1 at most');
    expect(report.finding('REACH-ANSWER').because).toBe('REACH-TLS-VERSION');
  });

  it('is found by a port that does not speak TLS', async () => {
    const { origin } = await startServer();
    const report = await examined(origin.replace('http:', 'https:'), passiveChecks);
    expect(report.bad()).toEqual(['fail REACH-TLS']);
    expect(report.finding('REACH-TLS').fix).toContain('speaks TLS');
  });

  it('is warned about two weeks before its certificate ends', async () => {
    const url = `https://localhost:${await serveTls(certificateForHere)}/mcp`;
    const day = 86_400;
    const judged = (now: number) => judgedBy(tlsChecks, 'REACH-TLS-EXPIRY', subjectOf(url, { now }));
    const fine = await judged(endOfCertificates - 60 * day);
    expect(fine.verdict).toBe('pass');
    const end = Date.parse(/until (\S+),/.exec(fine.saw)?.[1] ?? '') / 1000;
    const late = await judged(end - 10 * day);
    expect(late).toMatchObject({ verdict: 'warn', fix: expect.stringContaining('Renew') });
    expect(late.saw).toMatch(/in (?:9|10) days/);
  });
});

describe('a TLS connection', () => {
  /** Trusts the authority of the tests until the running test ends. */
  function trustTestAuthority(): void {
    const before = getCACertificates();
    setDefaultCACertificates([...before, testAuthority]);
    onTestFinished(() => setDefaultCACertificates(before));
  }

  describe('the handshake', () => {
    it('shows version, names, issuer and end of a certificate that is trusted', async () => {
      trustTestAuthority();
      const port = await serveTls(certificateForHere);
      expect(await handshake(subjectOf(`https://localhost:${port}/mcp`))).toEqual({
        kind: 'done',
        version: 'TLSv1.3',
        names: 'DNS:localhost, IP Address:127.0.0.1',
        issuer: 'Doctor Test',
        expiresAt: expect.any(Number),
      });
    });

    it('says why a certificate is not trusted', async () => {
      const unknown = await serveTls(certificateForHere);
      expect(await handshake(subjectOf(`https://localhost:${unknown}/`))).toMatchObject({
        distrust: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      });
      trustTestAuthority();
      const other = await serveTls(certificateForElsewhere);
      expect(await handshake(subjectOf(`https://localhost:${other}/`))).toMatchObject({
        distrust: 'ERR_TLS_CERT_ALTNAME_INVALID',
        names: 'DNS:elsewhere.example',
      });
    });

    it('is not tried with http, and fails where nobody speaks TLS', async () => {
      expect(await handshake(subjectOf('http://localhost/'))).toBeUndefined();
      expect(await handshake(subjectOf('https://127.0.0.1:1024/'))).toEqual({
        kind: 'failed',
        code: 'ECONNREFUSED',
      });
    });

    it('finds a server that only speaks an old version', async () => {
      const old = {
        ...certificateForHere,
        minVersion: 'TLSv1',
        maxVersion: 'TLSv1.1',
        ciphers: 'DEFAULT@SECLEVEL=0',
      } as const;
      const subject = subjectOf(`https://localhost:${await serveTls(old)}/`);
      expect(await handshake(subject)).toMatchObject({ kind: 'failed' });
      expect(await outdatedHandshake(subject)).toMatchObject({ kind: 'done', version: 'TLSv1.1' });
    });
  });
});
