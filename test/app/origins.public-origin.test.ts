import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningGatehouse, startGatehouse } from '../support/gatehouse.ts';
import { authorization, register } from '../support/oauth.ts';
import { patience } from '../support/patience.ts';
import { sendRaw } from '../support/raw-http.ts';

const lies = [
  ['Host: evil.example'],
  ['Host: evil.example:8443'],
  ['X-Forwarded-Host: evil.example'],
  ['X-Forwarded-Host: evil.example, mcp.example.com'],
  ['X-Forwarded-Proto: http'],
  ['X-Forwarded-Proto: javascript'],
  ['X-Forwarded-Port: 8443', 'X-Forwarded-Host: evil.example:8443'],
  ['X-Forwarded-Prefix: /evil.example'],
  ['X-Forwarded-Server: evil.example'],
  ['Forwarded: host=evil.example;proto=http;for=6.6.6.6'],
  ['X-Original-Host: evil.example', 'X-Host: evil.example', 'X-Forwarded-For: 6.6.6.6'],
];

describe.each([
  ['behind a proxy', 'https://mcp.example.com', ['loopback']],
  ['behind a proxy, with a path', 'https://mcp.example.com/tools', ['loopback']],
  ['with a peer that is no trusted proxy', 'https://mcp.example.com/tools', []],
])('every URL we publish %s', (_where, publicUrl, trustedProxies) => {
  let gatehouse: RunningGatehouse;
  let request: string;
  const base = new URL(publicUrl).pathname.replace(/\/$/, '');
  beforeAll(async () => {
    gatehouse = await startGatehouse({ publicUrl, trustedProxies });
    const { client_id: id } = await register(`${gatehouse.listensAt}${base}`);
    request = new URL(authorization(gatehouse, id).url).search;
  });
  afterAll(() => gatehouse.stop());

  function ask(target: string, fields: readonly string[]): ReturnType<typeof sendRaw> {
    const host = fields.some((field) => field.startsWith('Host:')) ? [] : ['Host: mcp.example.com'];
    return sendRaw(gatehouse.listensAt, [`GET ${target} HTTP/1.1`, ...host, ...fields]);
  }

  function published(): string[] {
    return [
      `/.well-known/oauth-authorization-server${base}`,
      `${base}/.well-known/openid-configuration`,
      `/.well-known/oauth-protected-resource${base}/mcp`,
      `${base}/mcp`,
      `${base}/authorize${request}`,
      `${base}/authorize?client_id=unknown`,
      `${base}/interaction/unknown`,
      `${base}/jwks`,
    ];
  }

  it.each(lies)('stays at the configured origin in spite of %s (T-106, A12-09)', async (...fields) => {
    for (const target of published()) {
      const answer = await ask(target, fields);
      const said = `${[...answer.headers].join('\n')}\n${answer.body}`;
      expect(said).not.toMatch(/evil\.example|6\.6\.6\.6/);
      const urls = said.match(/(?:https?|javascript):\/\/[^\s"'<>,]*/g) ?? [];
      for (const url of urls)
        expect(url.startsWith(publicUrl) || url.startsWith('https://mcp.example.com/.well-known/')).toBe(
          true,
        );
    }
  });

  it('is the same after all those lies as before: nothing wrong was kept (T-106)', async () => {
    for (const target of published().slice(0, 3)) {
      const before = await ask(target, []);
      for (const fields of lies) await ask(target, fields);
      const after = await ask(target, []);
      expect(after.status).toBe(200);
      expect(after.body.replace(/^[\da-f]+\r\n/, '')).toBe(before.body.replace(/^[\da-f]+\r\n/, ''));
      expect(after.headers.get('vary') ?? '').not.toMatch(/host|forwarded/i);
    }
  });

  it('is https throughout: endpoints, redirects and cookies (A12-09)', async () => {
    const document = JSON.parse((await ask(`${base}/.well-known/openid-configuration`, [])).body) as object;
    for (const value of Object.values(document)) expect(String(value)).not.toMatch(/^http:/);
    const begun = await ask(`${base}/authorize${request}`, []);
    expect(begun.status).toBe(303);
    expect(begun.headers.get('location')).toMatch(new RegExp(`^${publicUrl}/interaction/`));
    expect(begun.headers.get('set-cookie')).toMatch(/; secure/i);
  });

  it('costs no time when a forwarded header is long: 12 KB of blanks and commas (T-108)', async () => {
    for (const name of ['X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Forwarded-For', 'Forwarded']) {
      for (const filler of [' ', ',', ' ,', 'a,', '\t']) {
        const value = `x${filler.repeat(Math.floor(12_000 / filler.length))}x`;
        const times = [];
        for (let round = 0; round < 3; round++) {
          const began = performance.now();
          const answer = await ask(`/.well-known/oauth-authorization-server${base}`, [`${name}: ${value}`]);
          times.push(performance.now() - began);
          expect(answer.status).toBe(200);
        }
        expect(Math.min(...times)).toBeLessThan(patience(50));
      }
    }
  });

  it('of 100 KB is refused at once, and the server goes on (T-108)', async () => {
    for (const name of ['X-Forwarded-Proto', 'X-Forwarded-Host']) {
      const began = performance.now();
      const answer = await ask('/healthz', [`${name}: ${' ,'.repeat(50_000)}x`]).catch(() => undefined);
      expect(performance.now() - began).toBeLessThan(patience(500));
      expect([undefined, 431]).toContain(answer?.status);
    }
    expect((await ask('/healthz', [])).status).toBe(200);
  });
});

it('an http URL is for localhost alone (A12-09)', async () => {
  await expect(startGatehouse({ publicUrl: 'http://mcp.example.com' })).rejects.toThrow(
    /publicUrl: must begin with https/,
  );
});

// Documents are made once, for whoever asks first.
it.each(lies)('is not decided by who asks first, with %s (T-106)', async (...fields) => {
  const gatehouse = await startGatehouse({
    publicUrl: 'https://mcp.example.com/tools',
    trustedProxies: ['loopback'],
  });
  try {
    const host = fields.some((field) => field.startsWith('Host:')) ? [] : ['Host: mcp.example.com'];
    for (const target of [
      '/tools/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server/tools',
      '/.well-known/oauth-protected-resource/tools/mcp',
    ])
      for (const said of [[...host, ...fields], ['Host: mcp.example.com']]) {
        const { status, body } = await sendRaw(gatehouse.listensAt, [`GET ${target} HTTP/1.1`, ...said]);
        expect(status).toBe(200);
        expect(body).not.toMatch(/evil\.example|6\.6\.6\.6|http:|javascript:|:8443/);
      }
  } finally {
    await gatehouse.stop();
  }
});
