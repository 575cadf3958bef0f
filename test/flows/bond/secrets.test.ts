// Flows of src/upstream/vault.ts and src/composition/upstreams.ts: where secrets of upstreams are not.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { post, refresh, type Tokens } from '../../support/oauth.ts';
import { faults } from '../../support/upstreams/front.ts';
import { startOpenIdUpstream } from '../../support/upstreams/open-id.ts';
import { lin, omar, upstreamClient } from '../../support/upstreams/people.ts';
import { age, arrive, openAll, send, startScene } from './subject.ts';

afterEach(() => void vi.restoreAllMocks());

/** Keeps every answer that requests of this process get from a server, headers and all. */
function recordAnswers(origin: string): {
  answers: string[];
  urls: string[];
  settled: () => Promise<unknown>;
} {
  const answers: string[] = [];
  const urls: string[] = [];
  const reading: Promise<unknown>[] = [];
  const original = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (...request) => {
    const response = await original(...request);
    if (!response.url.startsWith(origin)) return response;
    urls.push(response.url);
    const headers = [...response.headers].map((field) => field.join(': ')).join('\n');
    const copy = response.clone();
    reading.push(
      copy.text().then(
        (body) => answers.push(`${copy.status} ${copy.url}\n${headers}\n\n${body}`),
        () => answers.push(`${copy.status} ${copy.url}\n${headers}`),
      ),
    );
    return response;
  });
  return { answers, urls, settled: () => Promise.all(reading) };
}

it('nothing an upstream gave, and no secret of ours there, is in the database, the log, or any answer (T-093, T-094)', async () => {
  const work = await startOpenIdUpstream();
  const scene = await startScene(work, { graceSeconds: 1 });
  const { gatehouse } = scene;
  const { url, mcpUrl, folder } = gatehouse;
  const { answers, urls, settled } = recordAnswers(url);
  const ping = (tokens: Tokens) => send(mcpUrl, tokens, { method: 'ping' }).then((answer) => answer.text());

  // Logins, streams, calls and refreshes, where all is well.
  const first = await arrive(scene);
  const open = await openAll(mcpUrl, first.tokens, { calls: false });
  await age(scene, { expiredAgo: 1 });
  await ping(first.tokens);
  const second = (await (await refresh(url, first.clientId, first.tokens.refresh_token)).json()) as Tokens;
  await first.visitor.open(`${url}/account`);
  const other = await arrive(scene, { who: omar });

  // Where nothing is: the upstream fails with a page of its own, is down, says no, and logs people out.
  work.fault('/token', faults.page(500));
  await age(scene, { expiredAgo: 10, unreachableFor: 10 });
  await ping(second);
  await refresh(url, first.clientId, second.refresh_token).then((answer) => answer.text());
  await expect(arrive(scene)).rejects.toThrow();
  work.fault('/token', faults.notJson());
  await ping(second);
  await expect(arrive(scene)).rejects.toThrow();
  await work.down();
  await ping(second);
  await work.up();
  work.behave();
  for (const token of ['canary-of-a-token', await work.logoutToken({ sub: lin.sub, nonce: 'n' })])
    await post(`${url}/upstream/work/backchannel-logout`, { logout_token: token }).then((answer) =>
      answer.text(),
    );
  work.fault('/token/revocation', faults.page(500));
  await post(`${url}/revoke`, { client_id: first.clientId, token: second.refresh_token });
  await expect.poll(() => work.count('/token/revocation'), { timeout: 5000 }).toBeGreaterThan(0);
  await open.ended;
  work.revokeTokensOf(omar.sub);
  await ping(other.tokens);
  const third = await arrive(scene);
  await work.logOut(lin.sub);
  await ping(third.tokens);
  await settled();

  const callbacks = urls
    .map((each) => new URL(each).searchParams)
    .filter((query) => query.has('iss') || query.has('code'));
  const codes = callbacks.flatMap((query) => query.get('code') ?? []);
  expect(work.issued.length).toBeGreaterThan(8);
  expect(codes.length).toBeGreaterThan(2);
  const secrets = [
    ...work.issued,
    upstreamClient.clientSecret,
    Buffer.from(`${upstreamClient.clientId}:${upstreamClient.clientSecret}`).toString('base64'),
    'canary-of-a-page',
    'canary-of-a-token',
  ];
  const places: [string, string][] = [
    ['the log', gatehouse.log.join('\n')],
    ...answers.map((answer): [string, string] => [answer.slice(0, 80), answer]),
    ...readdirSync(folder)
      .filter((file) => /\.db/.test(file))
      .map((file): [string, string] => [file, readFileSync(join(folder, file), 'latin1')]),
  ];
  expect(answers.length).toBeGreaterThan(30);
  expect(gatehouse.log.length).toBeGreaterThan(30);
  for (const [place, text] of places)
    for (const secret of secrets)
      expect(text.includes(secret), `${place} has ${secret.slice(0, 20)}`).toBe(false);
  // Codes are in the URL of the callback; they go no further.
  for (const code of codes) expect(gatehouse.log.join('\n')).not.toContain(code);
  await scene.stop();
});
