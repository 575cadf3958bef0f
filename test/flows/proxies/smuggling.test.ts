// Requests that two servers in a row might read in two ways, through a real HAProxy and a real nginx to routes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { sendRaw } from '../../support/raw-http.ts';
import { configuration } from './support/configurations.ts';
import { exchangeRaw } from './support/exchange-raw.ts';
import { stdioRoutes } from './support/fronted.ts';
import { isProxyInstalled, startProxy } from './support/proxy-program.ts';

const installed = isProxyInstalled('haproxy') && isProxyInstalled('nginx');
const path = '/team/files/mcp';

describe.skipIf(!installed)('through HAProxy and nginx to a route', () => {
  let gatehouse: RunningGatehouse;
  let origin: string;
  const stops: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const [front, middle] = [await freePort(), await freePort()];
    origin = `http://localhost:${front}`;
    gatehouse = await startGatehouse({
      publicUrl: origin,
      routes: stdioRoutes,
      trustedProxies: ['loopback'],
    });
    const upstream = Number(new URL(gatehouse.listensAt).port);
    stops.push(await startProxy('nginx', { listen: middle, upstream }, configuration('nginx')));
    stops.push(await startProxy('haproxy', { listen: front, upstream: middle }, configuration('haproxy')));
  });
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
    await gatehouse?.stop();
  });

  /** Whether a request to this path was run. */
  const wasRun = (place: string): boolean => gatehouse.log.some((line) => line.includes(`"${place}"`));
  const hidden = (place: string): string => `GET ${place} HTTP/1.1\r\nHost: ${new URL(origin).host}\r\n\r\n`;

  it('a request behind another is run where it is one: these tests would see it', async () => {
    const first = `GET /healthz HTTP/1.1\r\nHost: ${new URL(origin).host}\r\n\r\n`;
    await exchangeRaw(origin, `${first}${hidden('/seen')}`);
    expect(wasRun('/seen')).toBe(true);
  });

  // In each, the request to /smuggled stands where a server that reads the framing as the standard has it sees no request.
  const inBody = (text: string): string => `Content-Length: ${text.length}\r\n\r\n${text}`;
  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
  const framings: [string, (smuggled: string) => string][] = [
    ['a length and chunks', (s) => `Transfer-Encoding: chunked\r\n${inBody(`0\r\n\r\n${s}`)}`],
    ['chunks and a length', (s) => `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(s)}`],
    ['an unknown coding', (s) => `Transfer-Encoding: xchunked\r\n${inBody(`0\r\n\r\n${s}`)}`],
    ['a blank before the colon', (s) => `Transfer-Encoding : chunked\r\n${inBody(`0\r\n\r\n${s}`)}`],
    ['a folded field', (s) => `X: y\r\n Transfer-Encoding: chunked\r\n${inBody(`0\r\n\r\n${s}`)}`],
    ['a folded coding', (s) => `Transfer-Encoding:\r\n chunked\r\n${inBody(`0\r\n\r\n${s}`)}`],
    [
      'two codings',
      (s) => `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n${inBody(`0\r\n\r\n${s}`)}`,
    ],
    ['a coding behind a tab', (s) => `Transfer-Encoding:\tchunked\r\n${inBody(`0\r\n\r\n${s}`)}`],
    ['a coding in quotes', (s) => `Transfer-Encoding: "chunked"\r\n${inBody(`0\r\n\r\n${s}`)}`],
    ['two lengths', (s) => `Content-Length: 0\r\n${inBody(s)}`],
    ['a list of lengths', (s) => `Content-Length: ${s.length}, 0\r\n\r\n${s}`],
    ['a length with a sign', (s) => `Content-Length: +${s.length}\r\n\r\n${s}`],
    ['a length with zeros', (s) => `Content-Length: 000${s.length}\r\n\r\n${s}`],
    ['a bare LF', (s) => `X: y\nTransfer-Encoding: chunked\r\n${inBody(`0\r\n\r\n${s}`)}`],
    ['a bare CR', (s) => `X: y\rTransfer-Encoding: chunked\r\n${inBody(`0\r\n\r\n${s}`)}`],
    ['a length named by an underscore', (s) => `Content_Length: 0\r\n${inBody(s)}`],
    [
      'an extension of a chunk',
      (s) => `Transfer-Encoding: chunked\r\n\r\n${s.length.toString(16)};a=\n${s}\r\n0\r\n\r\n`,
    ],
    ['a size with a prefix', (s) => `Transfer-Encoding: chunked\r\n\r\n0x${chunk(s)}`],
    [
      'a size that overflows',
      (s) => `Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n${s}\r\n0\r\n\r\n`,
    ],
    [
      'a trailer',
      (s) =>
        `Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 0\r\nX: ${s.replaceAll('\r\n', ' ')}\r\n\r\n`,
    ],
  ];

  it.each(framings)(
    '%s hides no second request, and the next visitor gets their own answer (T-111)',
    async (what, write) => {
      for (const method of ['POST', 'GET']) {
        const place = `/smuggled-${method}-${what.replaceAll(' ', '-')}`;
        const head = `${method} ${path} HTTP/1.1\r\nHost: ${new URL(origin).host}\r\nContent-Type: application/json\r\n`;
        const answer = await exchangeRaw(origin, `${head}${write(hidden(place))}`);
        expect([what, method, answer.match(/HTTP\/1\.1 2\d\d/g)]).toEqual([what, method, null]);
        // Lines that stay open between the proxies would give the hidden answer to whoever comes next.
        for (let visitor = 0; visitor < 3; visitor++) {
          const mine = await sendRaw(origin, ['GET /healthz HTTP/1.1', `Host: ${new URL(origin).host}`]);
          expect([what, mine.status]).toEqual([what, 200]);
        }
        expect([what, method, wasRun(place)]).toEqual([what, method, false]);
      }
    },
  );
});
