import { describe, expect, it } from 'vitest';
import { guardAddresses, type LookUp } from '../../src/doctor/guard-addresses.ts';

const names: Readonly<Record<string, readonly string[]>> = {
  'mcp.example.com': ['203.0.113.7'],
  'login.example.com': ['203.0.113.8', '[2001:db8::8]'],
  'inner.example.com': ['203.0.113.9', '[::1]'],
  'mcp.corp.example': ['10.0.0.5'],
};
const lookUp: LookUp = async (host) => {
  const found = names[host];
  if (found === undefined) throw new Error('ENOTFOUND');
  return found;
};

function guarded(serverUrl: string) {
  const sent: string[] = [];
  const fetch = guardAddresses(
    async (url) => {
      sent.push(String(url));
      return new Response();
    },
    serverUrl,
    lookUp,
  );
  return { fetch, sent };
}

describe('a fetch that looks at addresses', () => {
  it('sends nothing to a name of a public server that leads into the local network (T-185)', async () => {
    const { fetch, sent } = guarded('https://mcp.example.com/mcp');
    await fetch('https://mcp.example.com/mcp');
    await fetch('https://login.example.com/token');
    await expect(fetch('https://inner.example.com/token')).rejects.toThrow(
      'inner.example.com is [::1], in the local network',
    );
    expect(sent).toEqual(['https://mcp.example.com/mcp', 'https://login.example.com/token']);
  });

  it('lets a server of the local network name others there', async () => {
    for (const url of ['https://mcp.corp.example/mcp', 'http://127.0.0.1:3000/mcp']) {
      const { fetch, sent } = guarded(url);
      await fetch('https://inner.example.com/token');
      expect(sent).toHaveLength(1);
    }
  });

  it('leaves it to the request to say that a name has no address', async () => {
    const { fetch, sent } = guarded('https://mcp.example.com/mcp');
    await fetch('https://nowhere.example/');
    expect(sent).toHaveLength(1);
  });
});
