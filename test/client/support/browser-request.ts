import { request } from 'node:http';
import { networkInterfaces } from 'node:os';

/** Whether this machine has ::1. */
export const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

/** Sends a request with any method and Host, as no fetch would. */
export function send(
  url: string,
  options: { method?: string; host?: string } = {},
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', host } = options;
    const headers = host === undefined ? {} : { host };
    const sent = request(url, { method, headers }, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += String(chunk);
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    sent.on('error', reject);
    sent.end();
  });
}
