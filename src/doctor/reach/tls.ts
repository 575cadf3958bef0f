import { connect, type PeerCertificate, type SecureVersion } from 'node:tls';
import { defaultAnswerMs } from '../ask.ts';
import { failureCode } from '../failure.ts';
import type { Subject } from '../subject.ts';
import { requireTarget } from './target.ts';

/** Result of a TLS handshake. */
export type Handshake =
  | {
      kind: 'done';
      /** `TLSv1.3` */
      version: string;
      /** Code of why the certificate is not trusted; absent if it is. */
      distrust?: string;
      /** Names the certificate is for. */
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

/** Node gives the code as the error itself, or on it. */
function codeOf(error: unknown): string {
  return failureCode(error) ?? String(error);
}

/** Fact: what the server's TLS is like; undefined if the URL is `http`. */
export async function handshake(subject: Subject): Promise<Handshake | undefined> {
  return requireTarget(subject).isSecure ? shake(subject, 'TLSv1.2') : undefined;
}

/** Fact: whether a server that refuses TLS 1.2 takes an older version. */
export async function outdatedHandshake(subject: Subject): Promise<Handshake> {
  return shake(subject, 'TLSv1');
}
