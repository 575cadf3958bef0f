import { describe, expect, it } from 'vitest';
import { openExamination } from '../../src/doctor/examination.ts';
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
