import { describe, expect, it } from 'vitest';
import type { Interaction } from '../../../src/authorization-server/interactions/interaction.ts';
import {
  noteChoice,
  readChoice,
  upstreamsOfResource,
  waysIn,
} from '../../../src/authorization-server/upstream-login/choice.ts';
import type { Upstream, UpstreamSettings, Upstreams } from '../../../src/upstream/upstream.ts';

const resource = 'https://notes.example/mcp';

function upstreams(given: Record<string, Partial<UpstreamSettings>>): Upstreams {
  const all = Object.entries(given).map(([name, settings]) => ({
    name,
    settings: { login: true, domains: [], resources: [], ...settings },
  })) as unknown as Upstream[];
  return { all, find: (name) => all.find((each) => each.name === name) };
}

function interaction(hint?: string): Interaction {
  return { params: { login_hint: hint }, prompt: { name: 'login', reasons: [], details: {} } } as never;
}

const names = (list: readonly Upstream[]) => list.map(({ name }) => name);

describe('the ways to log in', () => {
  const both = upstreams({ work: { domains: ['Work.Example'] }, hub: {}, tools: { login: false } });

  it('are our own and every upstream that is for logins', () => {
    const ways = waysIn(both, interaction(), resource);
    expect(names(ways.upstreams)).toEqual(['work', 'hub']);
    expect(ways.own).toBe(true);
    expect(ways.chosen).toBeUndefined();
    expect(waysIn(upstreams({}), interaction(), resource)).toEqual({
      upstreams: [],
      own: true,
      chosen: undefined,
    });
  });

  it('are chosen by the domain of who is meant, unless the person chose another way', () => {
    expect(waysIn(both, interaction('lin@work.example'), resource).chosen?.name).toBe('work');
    for (const hint of ['lin@else.example', 'work.example', '', 'lin@sub.work.example'])
      expect(waysIn(both, interaction(hint), resource).chosen, hint).toBeUndefined();
    const changed = interaction('lin@work.example');
    noteChoice(changed, { upstream: '' });
    expect(waysIn(both, changed, resource).chosen).toBeUndefined();
    noteChoice(changed, { upstream: 'hub' });
    expect(waysIn(both, changed, resource).chosen?.name).toBe('hub');
    noteChoice(changed, undefined);
    expect(readChoice(changed)).toBeUndefined();
  });

  it('to a resource that wants an upstream are that one and no other', () => {
    const strict = upstreams({ work: { resources: [resource], login: false }, hub: {} });
    const ways = waysIn(strict, interaction('ada@hub.example'), resource);
    expect(names(ways.upstreams)).toEqual(['work']);
    expect(ways.own).toBe(false);
    expect(ways.chosen?.name).toBe('work');
    expect(names(waysIn(strict, interaction(), 'https://other.example/mcp').upstreams)).toEqual(['hub']);
    expect(names(upstreamsOfResource(strict, resource))).toEqual(['work']);
  });

  it('do not lead to an upstream that is not offered (any more)', () => {
    const chosen = interaction();
    noteChoice(chosen, { upstream: 'tools' });
    expect(waysIn(both, chosen, resource).chosen).toBeUndefined();
  });
});
