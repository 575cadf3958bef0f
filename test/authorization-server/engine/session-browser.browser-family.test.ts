import { expect, it } from 'vitest';
import { browserFamily } from '../../../src/authorization-server/engine/session-browser.ts';

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)';
const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)';
const iPhone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';

it.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox', 'Linux'],
  ['Mozilla/5.0 (Android 15; Mobile; rv:145.0) Gecko/145.0 Firefox/145.0', 'Firefox', 'Android'],
  [`${iPhone} FxiOS/145.0 Mobile/15E148 Safari/605.1.15`, 'Firefox', 'iOS'],
  [`${windows} ${webkit} Chrome/142.0.0.0 Safari/537.36`, 'Chrome', 'Windows'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} HeadlessChrome/142.0.0.0 Safari/537.36`, 'Chrome', 'Linux'],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webkit} Chrome/142.0.0.0 Safari/537.36`, 'Chrome', 'ChromeOS'],
  [`${iPhone} CriOS/142.0.7444.46 Mobile/15E148 Safari/604.1`, 'Chrome', 'iOS'],
  [`${windows} ${webkit} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`, 'Edge', 'Windows'],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${webkit} Chrome/142.0 Mobile Safari/537.36 EdgA/142.0`,
    'Edge',
    'Android',
  ],
  [`${iPhone} Version/18.0 EdgiOS/142.0 Mobile/15E148 Safari/604.1`, 'Edge', 'iOS'],
  [`${windows} ${webkit} Chrome/140.0.0.0 Safari/537.36 OPR/124.0.0.0`, 'Opera', 'Windows'],
  [`${mac} ${webkit} Chrome/142.0.0.0 Safari/537.36 Vivaldi/7.6`, 'Vivaldi', 'macOS'],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${webkit} SamsungBrowser/28.0 Chrome/130.0 Mobile Safari/537.36`,
    'Samsung Internet',
    'Android',
  ],
  [`${mac} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15`, 'Safari', 'macOS'],
  [`${iPhone} Version/26.0 Mobile/15E148 Safari/604.1`, 'Safari', 'iOS'],
  [
    'Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
    'Safari',
    'iPadOS',
  ],
])('%s is told from others by name and system', (userAgent, name, system) => {
  expect(browserFamily(userAgent)).toEqual({ name, system });
});

it('a system that is not known is left out', () => {
  expect(browserFamily('Mozilla/5.0 (Haiku; rv:145.0) Gecko/20100101 Firefox/145.0')).toEqual({
    name: 'Firefox',
  });
});

it.each(['', 'node', 'curl/8.16.0', 'Mozilla/5.0 (X11; Linux x86_64)', '<script>alert(1)</script>'])(
  'nothing is said of %j, and nothing of it kept',
  (userAgent) => {
    expect(browserFamily(userAgent)).toBeUndefined();
  },
);
