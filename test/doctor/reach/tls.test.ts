import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { handshake, outdatedHandshake } from '../../../src/doctor/reach/tls.ts';
import { certificateForElsewhere, certificateForHere, testAuthority } from '../support/certificates.ts';
import { serveTls } from '../support/tls-server.ts';
import { subjectOf } from '../support/view.ts';

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
