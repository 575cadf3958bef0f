import { describe, expect, it } from 'vitest';
import { trustCheck } from '../../../src/doctor/machine/trust.ts';
import { finding, put, testMachine } from './test-machine.ts';

/** Self-signed, for a hundred years. */
const companyRoot = `-----BEGIN CERTIFICATE-----
MIIBvTCCAWOgAwIBAgIUJvzIF8IvzYzjTA3kdwfhvXSctOYwCgYIKoZIzj0EAwIw
MzEVMBMGA1UECgwMRXhhbXBsZSBDb3JwMRowGAYDVQQDDBFFeGFtcGxlIENvcnAg
Um9vdDAgFw0yNjExMjIwMjI1MzVaGA8yMTI2MTAyOTAyMjUzNVowMzEVMBMGA1UE
CgwMRXhhbXBsZSBDb3JwMRowGAYDVQQDDBFFeGFtcGxlIENvcnAgUm9vdDBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABGzqOZbOmhUpz2iQlN7FCtimTaScCVs2hL6h
P4LENzEO5naWjQvZ+M64Fhuf4p0I/YJltTzr1uRFHDnjJcVTO6WjUzBRMB0GA1Ud
DgQWBBSl0zjJ64tcROcvsUGmLBjNZzOjPDAfBgNVHSMEGDAWgBSl0zjJ64tcROcv
sUGmLBjNZzOjPDAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIFzj
vTzQPTuuQd6O4yWFLlOUt3V4lNMiIi/8kSOk0ZNzAiEAptux4+yAHMUgUB7h9kjB
Zqol/THNiAhDkkzQB3/cUyo=
-----END CERTIFICATE-----
`;

/** Self-signed, run out in November 2026. */
const oldRoot = `-----BEGIN CERTIFICATE-----
MIIBejCCASGgAwIBAgIUMx+WziZf+fokMkMtchJzp30vfiEwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIT2xkIFJvb3QwHhcNMjYxMTIyMDIyNTM1WhcNMjYxMTIzMDIy
NTM1WjATMREwDwYDVQQDDAhPbGQgUm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABKLgoEjlVHy4Hdns34wDMoRgcCNtrouyCES9uoZeHA1nhZmTIbqOLZ5UCHWG
n9QhferiYQostRrjyDGjxmJVRpOjUzBRMB0GA1UdDgQWBBSkX39VaFke9OZnnhhW
tkf3YBdEKjAfBgNVHSMEGDAWgBSkX39VaFke9OZnnhhWtkf3YBdEKjAPBgNVHRMB
Af8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIBTLT4EONRaQJ75xO3oLuRSbwG4i
7UqL4s38DvQo7gYKAiB1gkJCnUGhimuWuVKfUBiT9UWBcw1rqUqwtYztA9GIJw==
-----END CERTIFICATE-----
`;

describe('MACHINE-TRUST', () => {
  it('passes where Node.js trusts what it carries', async () => {
    expect(await finding(trustCheck(testMachine()))).toMatchObject({ verdict: 'pass' });
  });

  it('finds that nothing is verified', async () => {
    const found = await finding(trustCheck(testMachine({ env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } })));
    expect(found).toMatchObject({ verdict: 'fail', fix: expect.stringContaining('NODE_EXTRA_CA_CERTS') });
  });

  it('passes with a certificate of a company', async () => {
    const machine = testMachine();
    const file = put(machine.home, 'ca.pem', companyRoot + companyRoot);
    const found = await finding(trustCheck({ ...machine, env: { NODE_EXTRA_CA_CERTS: file } }));
    expect(found).toMatchObject({ verdict: 'pass', saw: expect.stringContaining('2 certificate(s)') });
  });

  it.each([
    ['is not there', undefined, 'cannot be read'],
    ['holds none', 'DER', 'no PEM certificate'],
    ['is damaged', companyRoot.replace(/MI.{20}/, ''), 'does not parse'],
  ])('finds a file of certificates that %s', async (_case, content, saw) => {
    const machine = testMachine();
    const file = content === undefined ? `${machine.home}/absent.pem` : put(machine.home, 'ca.pem', content);
    const found = await finding(trustCheck({ ...machine, env: { NODE_EXTRA_CA_CERTS: file } }));
    expect(found).toMatchObject({ verdict: 'fail', saw: expect.stringContaining(saw) });
  });

  it('finds an expired one', async () => {
    const machine = testMachine({ nowMs: () => Date.UTC(2226, 0) });
    const file = put(machine.home, 'ca.pem', companyRoot);
    const found = await finding(trustCheck({ ...machine, env: { NODE_EXTRA_CA_CERTS: file } }));
    expect(found).toMatchObject({
      verdict: 'fail',
      saw: expect.stringMatching(/Example Corp Root.*expired/),
    });
  });

  it('passes for a bundle in which one of several has run out', async () => {
    const machine = testMachine({ nowMs: () => Date.UTC(2030, 0) });
    const file = put(machine.home, 'ca.pem', companyRoot + oldRoot);
    const found = await finding(trustCheck({ ...machine, env: { NODE_EXTRA_CA_CERTS: file } }));
    expect(found.verdict).toBe('pass');
  });

  it('finds SSL_CERT_FILE, which Node.js does not read', async () => {
    const env = { SSL_CERT_FILE: '/etc/ca.pem' };
    expect(await finding(trustCheck(testMachine({ env })))).toMatchObject({ verdict: 'warn' });
    const nodeFlags = ['--use-openssl-ca'];
    expect(await finding(trustCheck(testMachine({ env, nodeFlags })))).toMatchObject({ verdict: 'pass' });
  });
});
