import { describe, expect, it } from 'vitest';
import { cookieName } from '../../src/authorization-server/cookie-name.ts';

describe('the name of a cookie', () => {
  it('is bound to its host by https, and to its path where it is for that alone (T-121)', () => {
    expect(cookieName('https://mcp.example.com', 'session', 'host')).toBe('__Host-gatehouse-session');
    expect(cookieName('https://mcp.example.com/account', 'reset', 'path')).toBe('__Secure-gatehouse-reset');
    expect(cookieName('http://localhost', 'session', 'host')).toBe('gatehouse-session');
  });

  it('says of a server on a port of its own, or below a path, which it is', () => {
    const places = ['', '/', ':8443', ':8443/', ':8444', '/tools', '/tools/', '/tools/notes', ':8443/tools'];
    const names = places.map((place) => cookieName(`https://host.example${place}`, 'session', 'host'));
    const [bare, slash, port, portSlash, otherPort, path, pathSlash, ...others] = names;
    expect([slash, portSlash, pathSlash]).toEqual([bare, port, path]);
    expect(port).toBe('__Host-gatehouse-session-8443');
    expect(new Set([bare, port, otherPort, path, ...others]).size).toBe(6);
    for (const name of names) expect(name).toMatch(/^__Host-gatehouse-session[\w-]*$/);
  });

  it('of a path alone says nothing of that path, to which browsers send it', () => {
    expect(cookieName('http://localhost:3000/tools/account', 'visitor', 'path')).toBe(
      'gatehouse-visitor-3000',
    );
  });
});
