// Connections with sslmode=verify-full, to a server with a certificate of an authority that the test makes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openPostgresStorage } from '../../../../src/storage/postgres/index.ts';
import { StorageFault } from '../../../../src/storage/storage.ts';
import { testFolder } from '../../../client/support/folder.ts';
import { createAuthority, type TestCertificate } from '../../../support/certificate.ts';
import { usePostgres } from '../../../support/postgres/postgres.ts';

const server = usePostgres({ isOwn: true });
const authority = createAuthority();
let url: string;

beforeAll(async () => {
  url = (await server().createDatabase()).replace('127.0.0.1', 'localhost');
});

/** Opens the database with sslmode=verify-full; returns the fault, or `open`. */
async function tryOpening(trusted = authority.cert): Promise<unknown> {
  const file = join(testFolder(), 'ca.pem');
  writeFileSync(file, trusted);
  try {
    const storage = await openPostgresStorage({ url: `${url}?sslmode=verify-full&sslrootcert=${file}` });
    await storage.probeWrite();
    await storage.close();
    return 'open';
  } catch (error) {
    return error;
  }
}

/** Lets the server use a certificate, and waits until it does. */
async function present(certificate: TestCertificate | undefined): Promise<void> {
  await server().useCertificate(certificate);
}

describe('a connection with sslmode=verify-full', () => {
  it('is made to a server whose certificate has the name and is of the trusted authority', async () => {
    await present(authority.issue(['localhost']));
    await expect.poll(() => tryOpening(), { timeout: 20_000 }).toBe('open');
  });

  it.each([
    [
      'has another name',
      () => authority.issue(['db.example.com']),
      'its certificate is for another name. Check the host in the URL.',
    ],
    ['has expired', () => authority.issue(['localhost'], true), 'its certificate has expired. Renew it.'],
    [
      'is of another authority',
      () => createAuthority().issue(['localhost']),
      'its certificate is of an authority that is not trusted. Name the certificate of the authority with sslrootcert in the URL.',
    ],
  ] as const)('is refused if the certificate %s', async (_name, make, problem) => {
    await present(make());
    await expect
      .poll(() => tryOpening(), { timeout: 20_000 })
      .toEqual(new StorageFault(`PostgreSQL is not trusted: ${problem}`));
  });

  it('is refused to a server without TLS, before a password is sent', async () => {
    await present(undefined);
    await expect
      .poll(() => tryOpening(), { timeout: 20_000 })
      .toEqual(
        new StorageFault(
          'PostgreSQL offers no TLS, which the URL requires. Switch it on at the server (ssl = on), or write sslmode=disable if nobody else can read this network.',
        ),
      );
  });

  it('is refused if the file of the authority cannot be read, which is not called an outage', async () => {
    await expect(
      openPostgresStorage({ url: `${url}?sslmode=verify-full&sslrootcert=/nowhere/ca.pem` }),
    ).rejects.toThrow(new StorageFault('/nowhere/ca.pem cannot be used (ENOENT).'));
  });
});
