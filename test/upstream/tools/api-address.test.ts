import { describe, expect, it } from 'vitest';
import { readApiAddress } from '../../../src/upstream/tools/api-address.ts';

const addresses = {
  name: 'work',
  apiHosts: ['api.example.com', 'files.example.com:8443', 'other.example.com:443', '127.0.0.1:3000'],
  dangerouslyFromLoopback: false,
};

describe('the address of an API', () => {
  it.each([
    'https://api.example.com/me?a=b',
    'https://API.example.com:443/me',
    'https://files.example.com:8443/',
    'https://other.example.com/',
  ])('may be on a host of the upstream: %s', (url) => {
    expect(readApiAddress(url, addresses).href).toBe(new URL(url).href);
  });

  it.each([
    ['https://evil.example/', /upstreams\.work\.apiHosts/],
    ['https://api.example.com.evil.example/', /apiHosts/],
    ['https://sub.api.example.com/', /apiHosts/],
    ['https://api.example.com:8443/', /apiHosts/],
    ['https://files.example.com/', /apiHosts/],
    ['https://api.example.com@evil.example/', /user name/],
    ['https://user:word@api.example.com/', /user name/],
    ['http://api.example.com/', /not https/],
    ['http://127.0.0.1:3000/', /not https/],
    ['ftp://api.example.com/', /not https/],
    ['/me', /no absolute URL/],
    ['//api.example.com/me', /no absolute URL/],
  ])('is on no other host, and always https (T-093): %s', (url, message) => {
    expect(() => readApiAddress(url, addresses)).toThrow(message);
  });

  it('may be this very machine without https where that was allowed, on a host of the upstream', () => {
    const loose = { ...addresses, dangerouslyFromLoopback: true };
    expect(readApiAddress('http://127.0.0.1:3000/me', loose).port).toBe('3000');
    expect(() => readApiAddress('http://127.0.0.1:3001/me', loose)).toThrow('apiHosts');
    expect(() => readApiAddress('http://api.example.com/', loose)).toThrow('not https');
  });
});
