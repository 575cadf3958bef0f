import { describe, expect, it } from 'vitest';
import { createSealedClientIds } from '../../../src/authorization-server/registration/sealed-client-ids.ts';
import { createSealedBox, createTextSeal } from '../../../src/crypto/sealed-box.ts';
import { randomSecret } from '../../../src/crypto/secret.ts';
import { clientLifetimes } from '../../../src/storage/clients.ts';

const key = (id: string) => ({ id, key: randomSecret(32) });
const [oldKey, newKey] = [key('old'), key('new')];
const clock = { now: 1_800_000_000 };

function ids(...keys: (typeof oldKey)[]) {
  return createSealedClientIds(createTextSeal(createSealedBox(keys)), () => clock.now);
}

/** As Cursor registers: three redirect URIs at once. */
const cursor = {
  client_name: 'Cursor',
  redirect_uris: [
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'https://www.cursor.com/agents/mcp/oauth/callback',
    'http://localhost:8787/callback',
  ],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  application_type: 'native',
};

describe('an id that holds its registration', () => {
  it('gives back what was registered, secret and time included, with whichever key sealed it', () => {
    const id = ids(oldKey).make(cursor, 'the secret');
    expect(ids(oldKey).isSealed(id)).toBe(true);
    expect(ids(newKey, oldKey).open(id)).toEqual({
      ...cursor,
      client_id: id,
      client_id_issued_at: clock.now,
      client_secret: 'the secret',
      client_secret_expires_at: 0,
    });
    expect(ids(oldKey).open(ids(oldKey).make(cursor, undefined))).not.toHaveProperty('client_secret');
  });

  it('fits into URLs and headers: a client with three redirect URIs has one of less than 700 characters', () => {
    const id = ids(oldKey).make(cursor, `secret_${randomSecret(32)}`);
    expect(id.length).toBeLessThan(700);
    expect(id).toMatch(/^sealed_[\w-]+$/);
  });

  it('shows nothing of what is in it, and is another one each time', () => {
    const [one, two] = [ids(oldKey).make(cursor, 'the secret'), ids(oldKey).make(cursor, 'the secret')];
    expect(one).not.toBe(two);
    expect(Buffer.from(one.slice(7), 'base64url').toString('latin1')).not.toMatch(/Cursor|secret|callback/);
  });

  it('is good for nothing when any character of it is another, missing or more', () => {
    const sealed = ids(oldKey);
    const id = sealed.make(cursor, undefined);
    for (let at = 0; at < id.length; at++) {
      const other = id[at] === 'A' ? 'B' : 'A';
      expect(sealed.open(`${id.slice(0, at)}${other}${id.slice(at + 1)}`)).toBeUndefined();
    }
    for (const wrong of [
      id.slice(0, -4),
      `${id}AAAA`,
      `${id}.`,
      `${id}=`,
      'sealed_',
      `sealed_${'A'.repeat(100_000)}`,
      id.slice(7),
    ])
      expect(sealed.open(wrong)).toBeUndefined();
  });

  it('cannot be made with the keys of another installation, or of something else that is sealed here', () => {
    const id = ids(newKey).make(cursor, undefined);
    expect(ids(oldKey).open(id)).toBeUndefined();
    const elsewhere = createTextSeal(createSealedBox([oldKey])).seal(
      JSON.stringify({ metadata: cursor }),
      'Client:x',
    );
    expect(ids(oldKey).open(`sealed_${elsewhere}`)).toBeUndefined();
  });

  it('ends a day after it was made (T-061)', () => {
    const id = ids(oldKey).make(cursor, undefined);
    clock.now += clientLifetimes.neverUsedSeconds;
    expect(ids(oldKey).open(id)).toBeDefined();
    clock.now += 1;
    expect(ids(oldKey).open(id)).toBeUndefined();
  });

  it('does without what decides nothing, and is refused where the rest is too long', () => {
    const sealed = ids(oldKey);
    const decorated = {
      ...cursor,
      contacts: ['a@b.example'],
      tos_uri: 'https://x.example',
      software_id: 'x',
    };
    expect(sealed.fit(decorated)).toEqual({ metadata: cursor });
    const long = Array.from({ length: 10 }, (_, at) => `https://app.example/${at}${'x'.repeat(200)}`);
    expect(sealed.fit({ ...cursor, redirect_uris: long })).toMatchObject({
      refusal: { status: 400, error: 'invalid_client_metadata' },
    });
    const widest = sealed.fit({ ...cursor, client_name: '名'.repeat(200) });
    expect(widest).toHaveProperty('metadata');
  });
});
