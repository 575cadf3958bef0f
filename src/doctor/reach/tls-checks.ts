import { connect, type PeerCertificate, type SecureVersion } from 'node:tls';
import { defaultAnswerMs, failureCode } from '../ask.ts';
import { type Check, fail, pass, skip, unknown, warn } from '../check.ts';
import type { Subject } from '../subject.ts';
import { requireTarget } from './connection-checks.ts';

const secondsInDay = 86_400;

/** Remaining validity of a certificate below which there is a warning, in days. */
const soonDays = 14;

const remedyForUnknownIssuer =
  'Use a certificate of a public authority. For one of your own set NODE_EXTRA_CA_CERTS to its file, for each client; behind a proxy that opens TLS, to the file of the proxy.';

/** Advice for an untrusted certificate. */
const remedies: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'Renew the certificate.',
  CERT_NOT_YET_VALID: 'Correct the clock of this machine, or of the one that issued the certificate.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Use a certificate for this host name, or the host name of the certificate.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `Send the intermediate certificates too (nginx: ssl_certificate with the full chain, not the leaf alone). ${remedyForUnknownIssuer}`,
};

/** Checks that clients trust the certificate. */
const trusted: Check = {
  id: 'REACH-TLS',
  section: 'reach',
  title: 'The certificate is trusted and is for this host',
  clause: 'MCP authorization "Communication Security"; RFC 9110 section 4.3.4',
  needs: ['REACH-TCP'],
  async judge(subject) {
    const seen = await subject.fact(handshake);
    if (!seen) return skip('The URL is http.');
    if (seen.kind === 'failed') {
      const older = await subject.fact(outdatedHandshake);
      if (older.kind === 'done')
        return unknown(`The handshake ends with ${older.version} only, see REACH-TLS-VERSION.`);
      return fail(
        `The TLS handshake fails: ${seen.code}.`,
        'See that the port speaks TLS, and that a certificate is configured for this host name.',
      );
    }
    const about = `It is for ${seen.names}, issued by ${seen.issuer}.`;
    if (seen.distrust === undefined) return pass(about);
    return fail(
      `The certificate is not trusted: ${seen.distrust}. ${about}`,
      remedies[seen.distrust] ?? remedyForUnknownIssuer,
    );
  },
};

/** Checks that the TLS version is secure. */
const version: Check = {
  id: 'REACH-TLS-VERSION',
  section: 'reach',
  title: 'TLS is of version 1.2 or newer',
  clause: 'RFC 8996; OAuth 2.1 section 1.5',
  needs: ['REACH-TCP'],
  async judge(subject) {
    const seen = await subject.fact(handshake);
    if (!seen) return skip('The URL is http.');
    if (seen.kind === 'done') return pass(seen.version);
    const older = await subject.fact(outdatedHandshake);
    if (older.kind === 'done')
      return fail(
        `The server speaks ${older.version} at most, which clients refuse.`,
        'Turn on TLS 1.2 and 1.3 (nginx: ssl_protocols TLSv1.2 TLSv1.3).',
      );
    return unknown('The handshake fails with every version.');
  },
};

/** Checks that the certificate does not expire soon. */
const expiry: Check = {
  id: 'REACH-TLS-EXPIRY',
  section: 'reach',
  title: 'The certificate is valid for a while yet',
  clause: 'operational',
  needs: ['REACH-TLS'],
  async judge(subject) {
    const seen = await subject.fact(handshake);
    if (!seen) return skip('The URL is http.');
    if (seen.kind === 'failed' || Number.isNaN(seen.expiresAt)) return unknown('Its end could not be read.');
    const days = Math.floor((seen.expiresAt - subject.context.now()) / secondsInDay);
    const until = new Date(seen.expiresAt * 1000).toISOString().slice(0, 10);
    if (days >= soonDays) return pass(`It is valid until ${until}, ${days} days from now.`);
    return warn(
      `The certificate ends on ${until}, in ${days} days.`,
      'Renew it now, and see that renewal runs by itself.',
    );
  },
};

/** Checks of the server's TLS. */
export const tlsChecks: readonly Check[] = [trusted, version, expiry];

/** Result of a TLS handshake. */
type Handshake =
  | {
      kind: 'done';
      /** `TLSv1.3` */
      version: string;
      /** Error code if the certificate is not trusted. */
      distrust?: string;
      /** Host names of the certificate. */
      names: string;
      /** Issuer of the certificate. */
      issuer: string;
      /** Epoch seconds. */
      expiresAt: number;
    }
  | { kind: 'failed'; code: string };

function shake(subject: Subject, minVersion: SecureVersion): Promise<Handshake> {
  const { host, port, isAddress } = requireTarget(subject);
  const timeout = subject.context.timeoutMs ?? defaultAnswerMs;
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port,
      ...(isAddress ? {} : { servername: host }),
      // The certificate is looked at, whatever it is; nothing is sent.
      rejectUnauthorized: false,
      minVersion,
      ...(minVersion === 'TLSv1' ? { ciphers: 'DEFAULT@SECLEVEL=0' } : {}),
      timeout,
    });
    const end = (result: Handshake): void => {
      socket.destroy();
      resolve(result);
    };
    socket.once('timeout', () => end({ kind: 'failed', code: 'ETIMEDOUT' }));
    socket.once('error', (error) => end({ kind: 'failed', code: failureCode(error) ?? error.message }));
    socket.once('secureConnect', () => {
      const certificate: Partial<PeerCertificate> = socket.getPeerCertificate();
      const { subject: owner, subjectaltname: names, issuer, valid_to: until = '' } = certificate;
      const distrust = socket.authorized ? undefined : codeOf(socket.authorizationError);
      end({
        kind: 'done',
        version: socket.getProtocol() ?? 'unknown',
        ...(distrust === undefined ? {} : { distrust }),
        names: names ?? String(owner?.CN ?? 'nobody'),
        issuer: String(issuer?.O ?? issuer?.CN ?? 'nobody'),
        expiresAt: Math.floor(Date.parse(until) / 1000),
      });
    });
  });
}

/** Returns the error code: Node has it as the error itself, or as its property. */
function codeOf(error: unknown): string {
  return failureCode(error) ?? String(error);
}

/** Fact: the TLS handshake with the server; undefined if the URL is `http`. */
export async function handshake(subject: Subject): Promise<Handshake | undefined> {
  return requireTarget(subject).isSecure ? shake(subject, 'TLSv1.2') : undefined;
}

/** Fact: if a server that rejects TLS 1.2 accepts an older version. */
export async function outdatedHandshake(subject: Subject): Promise<Handshake> {
  return shake(subject, 'TLSv1');
}
