import { describe, expect, it } from 'vitest';
import { guardAddresses, type LookUp, openExamination } from '../../src/doctor/examination.ts';
import type { Subject } from '../../src/doctor/subject.ts';
import { startServer } from './support/server.ts';

async function opened() {
  const server = await startServer();
  const examination = openExamination({ url: server.url, fetch, now: () => 1_800_000_000 });
  return { server, examination };
}

async function metadata({ context, url }: Subject): Promise<number> {
  const response = await context.fetch(`${new URL(url).origin}/.well-known/oauth-authorization-server`);
  await response.text();
  return response.status;
}

describe('an examination', () => {
  it('finds each fact out once, for all who ask', async () => {
    const { server, examination } = await opened();
    const [one, two] = [examination.look(), examination.look()];
    expect(await Promise.all([one.subject.fact(metadata), two.subject.fact(metadata)])).toEqual([200, 200]);
    expect(server.requests).toHaveLength(1);
  });

  it('knows which exchanges a check looked at, through facts of facts too', async () => {
    const { examination } = await opened();
    await examination.look().subject.fact(metadata);
    const outer = async (subject: Subject): Promise<number> => {
      await (await subject.context.fetch(subject.url)).text();
      return subject.fact(metadata);
    };
    const other = examination.look();
    const view = examination.look();
    await view.subject.fact(outer);
    expect([...view.seen].sort()).toEqual([1, 2]);
    expect(other.seen.size).toBe(0);
    expect(examination.exchanges).toHaveLength(2);
  });

  it('takes back at its end what was left behind, the latest first, whatever fails', async () => {
    const { examination } = await opened();
    const done: string[] = [];
    const { subject } = examination.look();
    subject.atEnd(async () => done.push('first'));
    subject.atEnd(async () => {
      throw new Error('gone');
    });
    subject.atEnd(async () => done.push('last'));
    await examination.finish();
    await examination.finish();
    expect(done).toEqual(['last', 'first']);
  });
});

describe('guarded addresses', () => {
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
});
