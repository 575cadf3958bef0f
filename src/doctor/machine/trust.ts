import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Check, fail, type Judgement, pass, warn } from '../check.ts';
import type { Machine } from './machine.ts';

/** Parses the certificates of a PEM file; undefined for each invalid one. */
function readCertificates(pem: string): (X509Certificate | undefined)[] {
  return (pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []).map((text) => {
    try {
      return new X509Certificate(text);
    } catch {
      return undefined;
    }
  });
}

async function judgeExtra(file: string, nowMs: number): Promise<Judgement> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => error);
  if (typeof text !== 'string')
    return fail(
      `NODE_EXTRA_CA_CERTS names ${file}, which cannot be read, so it is not used.`,
      'Correct the path, or give this user read access.',
    );
  const certificates = readCertificates(text);
  if (certificates.length === 0)
    return fail(
      `NODE_EXTRA_CA_CERTS names ${file}, which holds no PEM certificate.`,
      'Convert it: openssl x509 -inform der -in FILE -out FILE.pem',
    );
  if (certificates.includes(undefined))
    return fail(
      `A certificate in ${file} does not parse.`,
      'Export it from the browser or the system again.',
    );
  // Bundles of a whole system hold roots that have run out; one that is left suffices.
  const expired = certificates.filter((found) => found !== undefined && found.validToDate.getTime() < nowMs);
  const [first] = expired;
  if (first && expired.length === certificates.length)
    return fail(
      `The certificate ${first.subject.replaceAll('\n', ', ')} in ${file} expired on ${first.validTo}.`,
      'Get the current one from whoever runs the proxy.',
    );
  return pass(`${certificates.length} certificate(s) of ${file} are trusted as well.`);
}

/**
 * Checks that certificates are verified, and that additional ones of a company are valid.
 * @see MCP authorization "Communication Security"
 */
export function trustCheck(machine: Machine): Check {
  return {
    id: 'MACHINE-TRUST',
    section: 'machine',
    title: 'Certificates are verified, and extra ones can be read',
    clause: 'MCP authorization, Communication Security',
    async judge() {
      const { env, nodeFlags } = machine;
      if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0')
        return fail(
          'NODE_TLS_REJECT_UNAUTHORIZED=0: no certificate is verified, so anyone on the way can read tokens.',
          'unset NODE_TLS_REJECT_UNAUTHORIZED; trust the one authority instead: NODE_EXTRA_CA_CERTS=/path/to/ca.pem',
        );
      if (env.NODE_EXTRA_CA_CERTS) return judgeExtra(env.NODE_EXTRA_CA_CERTS, machine.nowMs());
      const openssl = ['SSL_CERT_FILE', 'SSL_CERT_DIR'].filter((name) => env[name]);
      if (openssl.length > 0 && !nodeFlags.includes('--use-openssl-ca'))
        return warn(
          `${openssl.join(' and ')} is set, but Node.js does not read it.`,
          'export NODE_EXTRA_CA_CERTS=/path/to/ca.pem instead',
        );
      return pass('Certificates are verified against the authorities Node.js carries.');
    },
  };
}
