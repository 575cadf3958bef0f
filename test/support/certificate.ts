import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { isIP } from 'node:net';

/** A server certificate and its key, in PEM. Self-signed: whoever is to trust it takes it as a root. */
export interface TestCertificate {
  cert: string;
  key: string;
}

const day = 86_400_000;

/** A DER value: tag, length, content. */
function der(tag: number, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  // The shortest form of the length (X.690 section 10.1): Go's parser takes no other.
  const length =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

const sequence = (...content: Uint8Array[]): Buffer => der(0x30, ...content);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
const time = (at: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(at).toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`));

function commonName(name: string): Buffer {
  return sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));
}

function alternativeName(host: string): Buffer {
  if (isIP(host) === 4) return der(0x87, Buffer.from(host.split('.').map(Number)));
  if (isIP(host) === 6) return der(0x87, Buffer.from([...Array.from({ length: 15 }, () => 0), 1]));
  return der(0x82, Buffer.from(host));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(0x04, value));
}

/** Content of a certificate. */
interface Certified {
  name: Buffer;
  publicKey: KeyObject;
  issuer: { name: Buffer; privateKey: KeyObject };
  /** Names and addresses it is for; of IPv6 addresses only ::1. */
  hosts: readonly string[];
  /** True if it ended yesterday. */
  expired: boolean;
}

/** Returns a certificate (RFC 5280 section 4.1) in PEM. */
function certify({ name, publicKey, issuer, hosts, expired }: Certified): string {
  const now = Date.now();
  const isAuthority = name === issuer.name;
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    issuer.name,
    sequence(time(now - 30 * day), time(expired ? now - day : now + 30 * day)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        ...(isAuthority ? [extension('551d13', sequence(der(0x01, Buffer.from([0xff]))))] : []),
        ...(hosts.length > 0 ? [extension('551d11', sequence(...hosts.map(alternativeName)))] : []),
      ),
    ),
  );
  return toPem(toBeSigned, issuer.privateKey);
}

/** Makes a name: among roots of one name OpenSSL may take another one, and then believes neither. */
const newName = (): Buffer => commonName(`test ${randomUUID()}`);

/**
 * Makes a self-signed certificate.
 * @param hosts names and addresses it is for; of IPv6 addresses only ::1
 * @param expired whether it ended yesterday
 */
export function createCertificate(hosts: readonly string[], expired = false): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = newName();
  return {
    cert: certify({ name, publicKey, issuer: { name, privateKey }, hosts, expired }),
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}

/** A certificate authority of a test. */
export interface TestAuthority {
  /** Its own certificate, in PEM. */
  cert: string;
  /** Makes a certificate of a server; arguments as of {@link createCertificate}. */
  issue(hosts: readonly string[], expired?: boolean): TestCertificate;
}

/** Makes a certificate authority. */
export function createAuthority(): TestAuthority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = { name: newName(), privateKey };
  return {
    cert: certify({ name: issuer.name, publicKey, issuer, hosts: [], expired: false }),
    issue(hosts, expired = false) {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      return {
        cert: certify({ name: newName(), publicKey: pair.publicKey, issuer, hosts, expired }),
        key: String(pair.privateKey.export({ type: 'pkcs8', format: 'pem' })),
      };
    },
  };
}

function toPem(toBeSigned: Buffer, key: KeyObject): string {
  const signature = sign('sha256', toBeSigned, key);
  const whole = sequence(toBeSigned, ecdsaWithSha256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
